CREATE TABLE `workflow_secrets` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `name`),
	FOREIGN KEY (`account_id`,`workflow_id`) REFERENCES `workflows`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `workflow_secrets_by_key` ON `workflow_secrets` (`key_id`);