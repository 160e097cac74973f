"""Rules and a reader for the clusters of Acme; an example of a package that extends mwms-analyze."""
