CREATE TABLE `password_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`account_id` text,
	`created_by` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `password_links_person` ON `password_links` (`person_id`);--> statement-breakpoint
CREATE INDEX `password_links_oldest` ON `password_links` (`expires_at`);--> statement-breakpoint
ALTER TABLE `accounts` ADD `deleted_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_deleted` ON `accounts` (`deleted_at`) WHERE deleted_at IS NOT NULL;