/** The comments of a room, thread by thread. */
import type { Comment } from "atrium/server";
import { useKey } from "../data/organization.tsx";
import { chosen, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { type Names, useNames } from "../live/use-names.ts";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect, SearchBox } from "../ui/fields.tsx";
import { SelectAllRow } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Pager } from "../ui/table.tsx";
import { CommentCard } from "./comment-card.tsx";
import { NewComment } from "./new-comment.tsx";
import { useCommentActions, useComments } from "./use-comments.ts";

const RESOLVED: Readonly<Record<string, boolean>> = { open: false, resolved: true };

/** The same with the replies below what they reply to, as far as the page has both. */
const byThread = (comments: readonly Comment[]): readonly Comment[] =>
  [...Map.groupBy(comments, ({ thread_id }) => thread_id).values()].flat();

export function CommentsPart({ roomId }: { readonly roomId: string }) {
  const filters = useFilters();
  const { get, search, searchFor, limit, offset, isNarrowed } = filters;
  const resolved = RESOLVED[get("state")];
  const query = { limit, offset, ...chosen({ search }), ...(resolved !== undefined && { resolved }) };
  const { data, error, refetch } = useComments(roomId, query);
  const names = useNames(roomId);
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
        <NewComment roomId={roomId} users={names.users ?? []} />
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <CommentCards roomId={roomId} comments={byThread(data.comments)} names={names} />}
      {data?.total === 0 && (
        <Empty title={isNarrowed ? "No matching comments" : "No comments yet"}>
          {isNarrowed ? (
            <p>Try another word, or all comments.</p>
          ) : (
            <p>
              Users add comments with <code>client.comments.create({"{ text }"})</code>.
            </p>
          )}
        </Empty>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}

interface CommentCardsProps {
  readonly roomId: string;
  readonly comments: readonly Comment[];
  readonly names: Names;
}

function CommentCards({ roomId, comments, names: { nameOf, users = [] } }: CommentCardsProps) {
  const key = useKey();
  const selection = useSelection(comments, ({ id }) => id);
  const actions = useCommentActions(roomId);
  return (
    <div className="selectable-list" data-selection="">
      {comments.length > 1 && <SelectAllRow selection={selection} />}
      <ol className="comments">
        {comments.map((comment) => (
          <CommentCard key={comment.id} {...{ comment, nameOf, users, selection }} />
        ))}
      </ol>
      <SelectionBar
        selection={selection}
        noun={{ one: "comment", many: "comments" }}
        nameOf={({ user_id, text }) => `${nameOf(user_id)}: ${text}`}
        actions={actions}
        invalidates={[key("room", roomId, "comments")]}
      />
    </div>
  );
}
