/** The sign-up page, which also creates an organization. */
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import type { SignUpPolicy } from "../../../features/people/context.ts";
import { callDashboard } from "../data/api.ts";
import { useSignUp } from "../data/me.ts";
import { Form } from "../ui/dialog.tsx";
import { Loaded } from "../ui/feedback.tsx";
import { TextField } from "../ui/fields.tsx";
import { Challenge } from "./challenge.tsx";
import { EmailField, NewPasswordField, SignInLayout } from "./credentials.tsx";

export default function SignUp() {
  const policy = useQuery({
    queryKey: ["sign-up"],
    queryFn: () => callDashboard<SignUpPolicy>("GET", "sign-up"),
  });
  return (
    <SignInLayout title="Sign up">
      <Loaded query={policy}>
        {(data) =>
          data.type === "invite" ? (
            <p>
              Sign-up is by invitation only. Ask a member of your organization for an invitation, and open its
              link.
            </p>
          ) : (
            <SignUpForm domains={data.type === "domains" ? data.domains : null} />
          )
        }
      </Loaded>
      <p className="soft">
        Already have an account? <Link href="/sign-in">Sign in</Link>
      </p>
    </SignInLayout>
  );
}

/** Null for addresses of any domain. */
function SignUpForm({ domains }: { readonly domains: readonly string[] | null }) {
  const [, go] = useLocation();
  const signUp = useSignUp(() => go("/"));
  return (
    <Form
      submitLabel="Sign up"
      action={signUp}
      toInput={({ name = "", email = "", password = "", organization = "", challenge }) => ({
        name,
        email,
        password,
        organization,
        challenge,
      })}
    >
      <TextField label="Your name" name="name" autoComplete="name" required maxLength={255} autoFocus />
      <EmailField
        {...(domains !== null && {
          hint: `An address of ${domains.join(", ")}. For others, you need an invitation.`,
        })}
      />
      <NewPasswordField />
      <TextField
        label="Organization"
        name="organization"
        autoComplete="organization"
        required
        maxLength={255}
        hint="Owns your rooms. You can invite members and create more organizations later."
      />
      <Challenge error={signUp.error} />
    </Form>
  );
}
