CREATE TABLE `workflow_versions` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`version` integer NOT NULL,
	`saved_at` integer NOT NULL,
	`author_type` text,
	`author_id` text,
	`code` text NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `version`),
	FOREIGN KEY (`account_id`,`workflow_id`) REFERENCES `workflows`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `workflows` ADD `version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
INSERT INTO `workflow_versions` (`account_id`, `workflow_id`, `version`, `saved_at`, `code`)
SELECT `account_id`, `id`, 1, `updated_at`, `code` FROM `workflows`;
