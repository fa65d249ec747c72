CREATE INDEX `webhooks_secret` ON `webhooks` (`secret`);--> statement-breakpoint
CREATE INDEX `webhooks_previous_secret` ON `webhooks` (`previous_secret`);--> statement-breakpoint
CREATE INDEX `workflows_trigger_secret` ON `workflows` (`trigger_secret`);--> statement-breakpoint
CREATE INDEX `workflows_previous_trigger_secret` ON `workflows` (`previous_trigger_secret`);