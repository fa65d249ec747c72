CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`operation` text NOT NULL,
	`resource` text NOT NULL,
	`resource_id` text,
	`changes` text NOT NULL,
	`address` text,
	`request_id` text,
	`changes_before` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_newest` ON `audit_entries` (`account_id`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_actor` ON `audit_entries` (`account_id`,`actor_id`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_resource` ON `audit_entries` (`account_id`,`resource`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_oldest` ON `audit_entries` (`at`);