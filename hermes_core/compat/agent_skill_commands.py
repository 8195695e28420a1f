"""What a user said in a message that a skill was unfolded into, under the original's name."""

from hermes_core.memory.user_text import extract_user_instruction_from_skill_message

__all__ = ["extract_user_instruction_from_skill_message"]
