/** `atrium/workflow`: the types of a workflow and of its bindings. There is no code behind them. */

export type { WorkflowEvent } from "@atrium/contract/resources/workflow-events.ts";
export type {
  ActionsBinding,
  Bindings,
  BlocksOfDocument,
  BroadcastAction,
  BroadcastActions,
  CommentAction,
  CommentActions,
  DocumentActions,
  DocumentContent,
  DocumentEditAction,
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
} from "@atrium/contract/workflow/bindings.ts";
export type {
  AtriumEvent,
  EventName,
  Room,
  StorageFile,
  UploadResult,
  User,
  WorkflowEventName,
} from "../wire/resources.ts";
