"""How each worker and the job ended: exceptions, lost peers, last attempts."""
