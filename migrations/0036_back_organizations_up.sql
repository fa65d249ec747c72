CREATE TABLE `operator_tokens` (
	`account_id` text NOT NULL,
	`purpose` text NOT NULL,
	`hash` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `purpose`)
);
--> statement-breakpoint
CREATE INDEX `operator_tokens_oldest` ON `operator_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `restores` (
	`account_id` text PRIMARY KEY NOT NULL,
	`backup_id` text NOT NULL,
	`place` text NOT NULL,
	`turn` integer NOT NULL,
	`token_epoch` integer NOT NULL,
	`position` text DEFAULT '' NOT NULL,
	`started_at` integer NOT NULL
);
