CREATE TABLE `user_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`event` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`room` text NOT NULL,
	`user` text NOT NULL,
	`owed` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `user_events_oldest` ON `user_events` (`occurred_at`);