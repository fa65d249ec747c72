CREATE TABLE `mails` (
	`id` text NOT NULL,
	`recipient` text NOT NULL,
	`account_id` text,
	`topic` text NOT NULL,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`due_at` integer,
	`uncertain` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`id`, `recipient`)
);
--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`);--> statement-breakpoint
CREATE INDEX `mails_oldest` ON `mails` (`expires_at`);--> statement-breakpoint
CREATE INDEX `mails_recipient` ON `mails` (`recipient`);--> statement-breakpoint
CREATE INDEX `mails_topic` ON `mails` (`account_id`,`topic`,`created_at`);--> statement-breakpoint
ALTER TABLE `memberships` ADD `notices` integer DEFAULT 1 NOT NULL;