ALTER TABLE `rooms` ADD `last_active_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `rooms` SET `last_active_at` = coalesce(1000000000000000 + `occupied_since`, `first_join_at`, 0);--> statement-breakpoint
CREATE INDEX `rooms_by_name` ON `rooms` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `rooms_last_active` ON `rooms` (`account_id`,`last_active_at`,`id`);--> statement-breakpoint
CREATE INDEX `rooms_closed` ON `rooms` (`account_id`,created_at DESC,id DESC) WHERE state = 'closed';--> statement-breakpoint
CREATE INDEX `files_by_name` ON `files` (`account_id`,`room_id`,filename COLLATE NOCASE,`key`) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `files_by_size` ON `files` (`account_id`,`room_id`,`size`,`key`) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`account_id`,`room_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_by_url` ON `webhooks` (`account_id`,`url_folded`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_updated` ON `webhooks` (`account_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `workflows_by_name` ON `workflows` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `workflows_updated` ON `workflows` (`account_id`,`updated_at`,`id`);