"""Access to the web application: tokens of seats, requests and what they may do, and general limits."""
