"""What the program that started a worker prints, by words of its own, about how the worker ended."""
