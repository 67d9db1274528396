import { getRouteApi } from "@tanstack/react-router";
import { CompanySettings } from "../settings/settings.tsx";

const route = getRouteApi("/company/$section");

/** The settings of the company; a person without a workspace sees them too. */
export const CompanyPage = () => <CompanySettings section={route.useParams().section} />;
