CREATE TABLE `webhooks` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`url` text NOT NULL,
	`url_folded` text NOT NULL,
	`own_host` text NOT NULL,
	`events` text NOT NULL,
	`room_id` text,
	`enabled` integer NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhooks_newest` ON `webhooks` (`account_id`,created_at DESC,id DESC);