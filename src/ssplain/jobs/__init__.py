"""Jobs: many images, done once each, whatever is stopped, killed or broken in between."""
