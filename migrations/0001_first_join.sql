ALTER TABLE `rooms` ADD `first_join_at` integer;--> statement-breakpoint
-- Rooms that were joined before this column came to be.
UPDATE `rooms` SET `first_join_at` = `created_at` WHERE `figures_version` > 0;
