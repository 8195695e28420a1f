"""Names of tools that are the host's own."""

CORE_TOOLS = frozenset(
    """
    web_search web_extract terminal process read_terminal close_terminal read_file write_file patch search_files
    vision_analyze image_generate skills_list skill_view skill_manage text_to_speech todo memory session_search
    clarify execute_code delegate_task cronjob computer_use
    browser_navigate browser_snapshot browser_click browser_type browser_scroll browser_back browser_press
    browser_get_images browser_vision browser_console browser_cdp browser_dialog
    ha_list_entities ha_get_state ha_list_services ha_call_service
    kanban_show kanban_list kanban_complete kanban_block kanban_heartbeat kanban_comment kanban_create kanban_link
    kanban_unblock kanban_attach kanban_attach_url kanban_attachments
    """.split()
)
"""Whether or not this host has them: no memory provider may take one, or a model would call something else."""
