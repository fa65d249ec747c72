-- The states of files are named as everywhere else: `uploading` was `arriving`, `deleting` was `doomed`.
UPDATE `files` SET `state` = 'uploading' WHERE `state` = 'arriving' AND `state` <> 'stored';
--> statement-breakpoint
UPDATE `files` SET `state` = 'deleting' WHERE `state` = 'doomed' AND `state` <> 'stored';
