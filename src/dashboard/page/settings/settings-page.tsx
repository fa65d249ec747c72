/** The settings: API keys, members, quotas, the organization and the person's profile. */
import { useParams } from "wouter";
import { Loaded } from "../ui/feedback.tsx";
import { Page, Section, Tabs } from "../ui/page.tsx";
import { ApiPart } from "./api-part.tsx";
import { MembersPart } from "./members-part.tsx";
import { OrganizationPart } from "./organization-part.tsx";
import { ProfilePart } from "./profile-part.tsx";
import { QuotaMeters, useQuotas } from "./quota-meters.tsx";

const PARTS = [
  { name: "API keys", path: "", Content: ApiPart },
  { name: "Members", path: "/members", Content: MembersPart },
  { name: "Quotas", path: "/quotas", Content: QuotasPart },
  { name: "Organization", path: "/organization", Content: OrganizationPart },
  { name: "Profile", path: "/profile", Content: ProfilePart },
];

export default function SettingsPage() {
  const { part = "" } = useParams();
  const { Content = ApiPart } = PARTS.find(({ path }) => path === `/${part}`) ?? {};
  return (
    <Page title="Settings">
      <Tabs label="Settings" base="/settings" tabs={PARTS} />
      <div className="parts">
        <Content />
      </div>
    </Page>
  );
}

/** The use and the limit of each quota. */
function QuotasPart() {
  return (
    <Section id="quotas" title="Quotas">
      <Loaded query={useQuotas()}>{({ quotas }) => <QuotaMeters quotas={quotas} />}</Loaded>
      <p className="soft">
        Users online are shown about a second late, requests per second up to 20 seconds, waiting events up to
        a minute, and stores and documents to the MiB of each room. All other counts are exact. The operator
        of this service can raise a limit. Read more about{" "}
        <a href="/docs/guides/limits-and-quotas#quotas">limits and quotas</a>.
      </p>
    </Section>
  );
}
