/** The comments of a room, thread by thread. */
import type { Comment } from "atrium/server";
import { useSearchParams } from "wouter";
import { usePage, withParameter } from "../data/use-page.ts";
import { useNames } from "../live/use-names.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { CommentCard } from "./comment-card.tsx";
import { NewComment } from "./new-comment.tsx";
import { useComments } from "./use-comments.ts";

const RESOLVED: Readonly<Record<string, boolean>> = { open: false, resolved: true };

/** The same with the replies below what they reply to, as far as the page has both. */
const byThread = (comments: readonly Comment[]): readonly Comment[] =>
  [...Map.groupBy(comments, ({ thread_id }) => thread_id).values()].flat();

export function CommentsPart({ roomId }: { readonly roomId: string }) {
  const { limit, offset, goTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const state = parameters.get("state") ?? "";
  const resolved = RESOLVED[state];
  const { data, error, refetch } = useComments(roomId, {
    limit,
    offset,
    ...(resolved !== undefined && { resolved }),
  });
  const names = useNames(roomId);
  return (
    <section>
      <div className="filters">
        <SelectField
          label="Filter comments"
          isLabelHidden
          value={state}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setParameters((known) => withParameter(withParameter(known, "page", ""), "state", value));
          }}
        >
          <option value="">All comments</option>
          <option value="open">Open</option>
          <option value="resolved">Resolved</option>
        </SelectField>
        <NewComment roomId={roomId} users={names.users ?? []} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ol className="comments">
        {byThread(data?.comments ?? []).map((comment) => (
          <CommentCard key={comment.id} comment={comment} nameOf={names.nameOf} users={names.users ?? []} />
        ))}
      </ol>
      {data?.total === 0 && (
        <Empty title={state === "" ? "No comments yet" : "No matching comments"}>
          <p>
            Users add comments with <code>client.comments.create({"{ text }"})</code>.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </section>
  );
}
