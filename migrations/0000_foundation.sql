CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`last_four` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`change` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_oldest` ON `outbox` (`created_at`);--> statement-breakpoint
CREATE TABLE `receipts` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`data` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`scope`, `key`)
);
--> statement-breakpoint
CREATE INDEX `receipts_oldest` ON `receipts` (`created_at`);--> statement-breakpoint
CREATE TABLE `rooms` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`custom_id` text,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`total_users_created` integer DEFAULT 0 NOT NULL,
	`active_participants` integer DEFAULT 0 NOT NULL,
	`occupied_ms` integer DEFAULT 0 NOT NULL,
	`occupied_since` integer,
	`figures_version` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rooms_custom_id` ON `rooms` (`account_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `rooms_newest` ON `rooms` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`profile_picture` text,
	`custom_id` text,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`,`room_id`) REFERENCES `rooms`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_custom_id` ON `users` (`account_id`,`room_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_newest` ON `users` (`account_id`,`room_id`,created_at DESC,id DESC);