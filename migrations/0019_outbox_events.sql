CREATE TABLE `outbox_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`event` text NOT NULL,
	`room_id` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`room` text NOT NULL,
	`subject` text NOT NULL,
	`owed` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_events_by_account` ON `outbox_events` (`account_id`,`occurred_at`);