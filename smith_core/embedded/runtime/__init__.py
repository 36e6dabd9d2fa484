"""The local model's own process: started on demand, watched, ended with the app."""
