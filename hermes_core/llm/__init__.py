"""``ctx.llm``: one trust gate, one flow, two drivers."""
