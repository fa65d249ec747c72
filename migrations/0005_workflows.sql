CREATE TABLE `retired_scripts` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`hash` text NOT NULL,
	`retired_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `hash`)
);
--> statement-breakpoint
CREATE INDEX `retired_scripts_oldest` ON `retired_scripts` (`retired_at`);--> statement-breakpoint
CREATE TABLE `workflows` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`events` text NOT NULL,
	`room_id` text,
	`enabled` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`hash` text NOT NULL,
	`origin` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`problem_at_run` text,
	`code` text NOT NULL,
	`module` text NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `workflows_newest` ON `workflows` (`account_id`,created_at DESC,id DESC);