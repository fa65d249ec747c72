ALTER TABLE `accounts` ADD `token_epoch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `token_epoch` integer DEFAULT 0 NOT NULL;