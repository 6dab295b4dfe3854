"""Quarry in the hands of others: assistants (MCP), LangChain, LlamaIndex. Each module is thin and stands alone."""
