"""What several test modules share: studies, data, references computed by other means. Imported as `support.NAME`."""
