/** `atrium/workflow`: the types of a workflow and of its bindings. There is no code behind them. */
export type {
  ActionsBinding,
  Bindings,
  BroadcastAction,
  BroadcastActions,
  CommentAction,
  CommentActions,
  DocumentContent,
  DocumentsBinding,
  EventOf,
  FileContent,
  FileFilter,
  FilesBinding,
  FileWithContent,
  RoomBinding,
  RoomDocument,
  StoreActions,
  StoreBinding,
  Workflow,
} from "../../sandbox/guest/types.ts";
export type { AtriumEvent, EventName, WorkflowEvent, WorkflowEventName } from "../wire/events.ts";
export type { Room, StorageFile, UploadResult, UserRecord as User } from "../wire/resources.ts";
