/** The organization's members and invitations. */
import { useIsOwner } from "../data/organization.tsx";
import { sortedBy, useFilters } from "../data/use-filters.ts";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Invitations } from "./invitations.tsx";
import { MemberTable } from "./member-table.tsx";
import { useMembers } from "./use-members.ts";

export function MembersPart() {
  const isOwner = useIsOwner();
  const filters = useFilters();
  const { limit, offset, sort } = filters;
  const order = sortedBy(sort, ["name", "email", "role", "joined_at"]);
  const { data, error, refetch } = useMembers({ limit, offset, ...order });
  return (
    <>
      <section aria-labelledby="members">
        <h2 id="members">Members</h2>
        <ErrorMessage error={error} onRetry={refetch} />
        {data === undefined ? (
          !error && <Loading />
        ) : (
          <MemberTable members={data.members} filters={filters} />
        )}
        {data && <Pager filters={filters} total={data.total} />}
      </section>
      {isOwner ? <Invitations /> : <p className="soft">Only owners can invite members.</p>}
    </>
  );
}
