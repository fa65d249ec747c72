/** The way to each page. */
import { Link, useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Icon } from "../ui/icon.tsx";
import { PLACES } from "./navigation-items.ts";

export function Navigation() {
  const address = useAddress();
  const [path] = useLocation();
  const isHere = (place: string) => (place === "" ? path === address("") : path.startsWith(address(place)));
  return (
    <nav aria-label="Pages">
      {PLACES.map((place) => (
        <Link
          key={place.path}
          href={address(place.path)}
          aria-current={isHere(place.path) ? "page" : undefined}
        >
          <Icon name={place.icon} />
          {place.name}
        </Link>
      ))}
    </nav>
  );
}
