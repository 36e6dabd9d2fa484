"""What kills and power cuts may do to the store: nothing acknowledged is lost, nothing is there in part."""
