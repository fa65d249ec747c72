/** The comments of a room, thread by thread. */
import type { Comment, CommentInput, User } from "atrium/server";
import type { ReactNode } from "react";
import { chosen, useFilters } from "../data/filters.ts";
import { useAction, useApiQuery, useCurrent } from "../data/organization.tsx";
import { useNames, useRefreshMs } from "../live/live.tsx";
import { type BulkAction, oneByOne } from "../ui/bulk-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmAction } from "../ui/dialog.tsx";
import { Badge, Empty, Paged } from "../ui/feedback.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog, type FormDialogProps } from "../ui/form.tsx";
import { FilterSelect, SearchBox } from "../ui/list-filters.tsx";
import { SelectableCards } from "../ui/selectable.tsx";
import { Time } from "../ui/time.tsx";

const RESOLVED: Readonly<Record<string, boolean>> = { open: false, resolved: true };

/** The comments with replies below their comment, as far as the page has both. */
const byThread = (comments: readonly Comment[]): readonly Comment[] =>
  [...Map.groupBy(comments, ({ thread_id }) => thread_id).values()].flat();

export function CommentsPart({ roomId }: { readonly roomId: string }) {
  const filters = useFilters();
  const { get, search, searchFor } = filters;
  const resolved = RESOLVED[get("state")];
  const query = { ...filters.page(), ...chosen({ search }), ...(resolved !== undefined && { resolved }) };
  const refetchInterval = useRefreshMs();
  const comments = useApiQuery(
    ["room", roomId, "comments", query],
    (atrium) => atrium.comments.list(roomId, query),
    // A search reads all comments of the room.
    { refetchInterval: search === "" && refetchInterval },
  );
  const { users = [], nameOf } = useNames(roomId);
  const actions = useCommentActions(roomId);
  const first = { userId: users[0]?.id ?? "USER_ID", text: "Shall we begin?" };
  const empty = (
    <Empty
      filters={filters}
      title="No comments yet"
      create="Write a comment"
      command={["POST", `/rooms/${roomId}/comments`, first]}
    >
      Users comment on anything in the room, and answer each other.
    </Empty>
  );
  return (
    <section>
      <div className="filters">
        <SearchBox label="Search comments: press Enter" initial={search} onSearch={searchFor} isByEnter />
        <FilterSelect
          label="Filter comments"
          filters={filters}
          name="state"
          all="All comments"
          options={{ open: "Open", resolved: "Resolved" }}
        />
        <CommentDialog
          {...{ roomId, users }}
          title="New comment"
          submitLabel="Create comment"
          button={{ icon: "plus", "data-shortcut": "new", children: "New comment" }}
        />
      </div>
      <Paged query={comments} filters={filters} empty={empty}>
        {(data) => (
          <SelectableCards
            tag="ol"
            className="comments"
            cardClass={({ id, thread_id }) => (thread_id === id ? "comment" : "comment reply")}
            noun={{ one: "comment", many: "comments" }}
            items={byThread(data.comments)}
            idOf={({ id }) => id}
            nameOf={({ user_id, text }) => `${nameOf(user_id)}: ${text}`}
            selectedName={({ user_id, text }) => `the comment of ${nameOf(user_id)}: ${text.slice(0, 80)}`}
            actions={actions}
            refreshes={[["room", roomId, "comments"]]}
          >
            {(comment, box) => <Card {...{ comment, box, users }} author={nameOf(comment.user_id)} />}
          </SelectableCards>
        )}
      </Paged>
    </section>
  );
}

function useCommentActions(roomId: string): readonly BulkAction<Comment>[] {
  const { comments } = useCurrent().atrium;
  const set = (resolved: boolean) => (comment: Comment) => comments.update(roomId, comment.id, { resolved });
  return [
    {
      label: "Resolve",
      done: "resolved",
      consequences: "They are shown as resolved to everyone in the room, and can be reopened.",
      applies: ({ resolved }) => !resolved,
      run: oneByOne(set(true)),
      undo: set(false),
    },
    {
      label: "Reopen",
      done: "reopened",
      consequences: "They are shown as open to everyone in the room again.",
      applies: ({ resolved }) => resolved,
      run: oneByOne(set(false)),
      undo: set(true),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences: "They disappear for everyone in the room. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => comments.delete(roomId, id)),
    },
  ];
}

interface CardProps {
  readonly comment: Comment;
  readonly box: ReactNode;
  readonly author: string;
  /** Users on whose behalf one can reply. */
  readonly users: readonly User[];
}

function Card({ comment, box, author, users }: CardProps) {
  const { id, room_id: roomId, thread_id, text, anchor, reactions, created_at } = comment;
  const refreshes = [["room", roomId, "comments"]];
  const resolve = useAction(
    ({ comments }, next: boolean) => comments.update(roomId, id, { resolved: next }),
    {
      toast: ({ resolved }) => (resolved ? "Comment resolved" : "Comment reopened"),
      undo: ({ comments }, _, next) => comments.update(roomId, id, { resolved: !next }),
      refreshes,
      notifiesErrors: true,
    },
  );
  // Optimistic: shows the requested state before the response.
  const resolved = resolve.isPending ? resolve.variables : comment.resolved;
  return (
    <>
      <p className="comment-head">
        {box}
        <strong>{author}</strong> <Time at={created_at} />
        {resolved && <Badge tone="good">resolved</Badge>}
      </p>
      <p className="comment-text">{text}</p>
      {anchor !== null && <code className="soft small">{JSON.stringify(anchor)}</code>}
      <p className="row-actions">
        {Object.entries(reactions).map(([reaction, by]) => (
          <span key={reaction} className="chip">
            {reaction} {by.length}
          </span>
        ))}
        <CommentDialog
          {...{ roomId, users }}
          threadId={thread_id}
          title={`Reply to ${author}`}
          submitLabel="Send reply"
          button={{ variant: "quiet", "aria-label": `Reply to ${author}`, children: "Reply" }}
        />
        <Button variant="quiet" onClick={() => resolve.mutate(!resolved)}>
          {resolved ? "Reopen" : "Resolve"}
        </Button>
        <ConfirmAction
          label="Delete"
          variant="quiet"
          title="Delete this comment?"
          confirmLabel="Delete comment"
          act={({ comments }) => comments.delete(roomId, id)}
          options={{ toast: "Comment deleted", refreshes }}
        >
          <p>It disappears for everyone in the room. This cannot be undone.</p>
        </ConfirmAction>
      </p>
    </>
  );
}

interface CommentDialogProps extends Pick<FormDialogProps<CommentInput>, "title" | "submitLabel" | "button"> {
  readonly roomId: string;
  readonly users: readonly User[];
  readonly threadId?: string;
}

/** Creates a comment, or a reply to one, on behalf of a user. */
function CommentDialog({ roomId, users, threadId, button, ...dialog }: CommentDialogProps) {
  const write = useAction(({ comments }, comment: CommentInput) => comments.create(roomId, comment), {
    toast: threadId === undefined ? "Comment created" : "Reply sent",
    refreshes: [["room", roomId, "comments"]],
  });
  return (
    <FormDialog
      {...dialog}
      button={{ ...button, disabled: users.length === 0 }}
      about="Creates a comment on behalf of a user, as your back end can."
      action={write}
      toInput={({ userId = "", text = "" }) => ({ userId, text, ...(threadId && { threadId }) })}
    >
      <SelectField label="User" name="userId" options={users.map(({ id, name }) => [id, name])} />
      <TextField label="Text" name="text" required rows={4} />
    </FormDialog>
  );
}
