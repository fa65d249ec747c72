ALTER TABLE `workflows` ADD `schedule` text;--> statement-breakpoint
ALTER TABLE `workflows` ADD `http_trigger` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `workflows` ADD `trigger_secret_at` integer;--> statement-breakpoint
ALTER TABLE `workflows` ADD `trigger_secret` text;--> statement-breakpoint
ALTER TABLE `workflows` ADD `previous_trigger_secret` text;--> statement-breakpoint
ALTER TABLE `workflows` ADD `previous_trigger_secret_until` integer;