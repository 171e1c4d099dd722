"""Adapters: the memory of a seat for agents of LangChain, LangGraph, OpenAI Agents and pydantic-ai.

Each is a thin layer over `SeatChat`. Import the module of your framework; nothing here loads the others.
"""
