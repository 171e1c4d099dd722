"""Text of people, models and files as data: cleaned of what nobody sees, and written where a reader looks."""
