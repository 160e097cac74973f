"""What runs one training job: its folders and hosts, its processes, and what they print while they live."""
