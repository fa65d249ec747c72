DROP INDEX `outbox_oldest`;--> statement-breakpoint
CREATE INDEX `outbox_by_account` ON `outbox` (`account_id`,`created_at`);--> statement-breakpoint
DROP INDEX `user_events_oldest`;--> statement-breakpoint
CREATE INDEX `user_events_by_account` ON `user_events` (`account_id`,`occurred_at`);