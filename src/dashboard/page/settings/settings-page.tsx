/** The settings: API keys, members, quotas, the organization and the person's profile. */
import { Link, useParams } from "wouter";
import { useIsOwner } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { sortedBy, useFilters } from "../data/use-filters.ts";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { bringIntoView, Page } from "../ui/page.tsx";
import { Pager } from "../ui/table.tsx";
import { ApiPart } from "./api-part.tsx";
import { Invitations } from "./invitations.tsx";
import { MemberTable } from "./member-table.tsx";
import { OrganizationPart } from "./organization-part.tsx";
import { ProfilePart } from "./profile-part.tsx";
import { QuotaMeters } from "./quota-meters.tsx";
import { useMembers } from "./use-members.ts";
import { useQuotas } from "./use-quotas.ts";

const PARTS = [
  { name: "API keys", part: undefined, Content: ApiPart },
  { name: "Members", part: "members", Content: MembersPart },
  { name: "Quotas", part: "quotas", Content: QuotasPart },
  { name: "Organization", part: "organization", Content: OrganizationPart },
  { name: "Profile", part: "profile", Content: ProfilePart },
];

export default function SettingsPage() {
  const { part } = useParams();
  const address = useAddress();
  const { Content = ApiPart } = PARTS.find((one) => one.part === part) ?? {};
  return (
    <Page title="Settings">
      <nav className="tabs" aria-label="Settings">
        {PARTS.map((one) => (
          <Link
            key={one.name}
            href={address(one.part === undefined ? "/settings" : `/settings/${one.part}`)}
            {...(one.part === part && { "aria-current": "page", ref: bringIntoView })}
          >
            {one.name}
          </Link>
        ))}
      </nav>
      <div className="parts">
        <Content />
      </div>
    </Page>
  );
}

/** The organization's members and invitations. */
function MembersPart() {
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

/** The organization's quotas: what is used, and what is allowed. */
function QuotasPart() {
  const { data, error, refetch } = useQuotas();
  return (
    <section aria-labelledby="quotas">
      <h2 id="quotas">Quotas</h2>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <QuotaMeters quotas={data.quotas} />}
      <p className="soft">
        Users online are shown about a second late, requests per second up to 20 seconds, waiting events up to
        a minute, and stores and documents to the MiB of each room. All other counts are exact. The operator
        of this service can raise a limit. Read more about{" "}
        <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </section>
  );
}
