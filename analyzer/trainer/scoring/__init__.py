"""How often the analyzer is right on recordings, and how simpler methods do on the same ones."""
