"""The pages: each module has the routes of one page, and what its template shows."""
