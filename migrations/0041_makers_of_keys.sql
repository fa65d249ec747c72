ALTER TABLE `api_keys` ADD `created_by_key` text;--> statement-breakpoint
ALTER TABLE `invitations` ADD `invited_by_key` text;--> statement-breakpoint
ALTER TABLE `password_links` ADD `created_by_key` text;