"""MCP: assistants ask what one seat of a campaign knows."""
