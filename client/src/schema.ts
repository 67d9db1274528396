// Written by `npm run openapi` from openapi.json. Do not edit.

export interface paths {
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports that the process runs. */
        get: operations["checkLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports that requests are accepted: migrated, manifest applied, not overloaded, and the database responds, accepts writes and has space. */
        get: operations["checkReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/track": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Records attributes, events and purchases of users.
         * @description At most 50 objects in all (the workspace setting `track_max_updates`), applied in the order attributes, events, purchases, each in the order of its array. A rejected object never affects its neighbours: the response lists it in `errors`.
         *
         *     Permission: `users.track`.
         */
        post: operations["trackUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/track/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Records up to 1,000 attributes, events and purchases, at most 100 of one user.
         * @description Permission: `users.track.bulk`.
         */
        post: operations["trackUsersInBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/track/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Records one attributes, event or purchase object and responds with what it changed.
         * @description Permission: `users.track.sync`.
         */
        post: operations["trackUserInSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/alias/new": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives users aliases, or creates alias-only users.
         * @description Permission: `users.alias.new`.
         */
        post: operations["createUserAliases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/alias/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives aliases another name.
         * @description Permission: `users.alias.update`.
         */
        post: operations["renameUserAliases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/external_ids/rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives users another external_id; the old one still identifies the user.
         * @description Permission: `users.external_ids.rename`.
         */
        post: operations["renameExternalIds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/external_ids/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Removes the redirects of external ids that were renamed or merged.
         * @description Permission: `users.external_ids.remove`.
         */
        post: operations["removeExternalIds"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/identify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives unidentified users an external_id, or combines them into the users that have it.
         * @description Permission: `users.identify`.
         */
        post: operations["identifyUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merges users into others.
         * @description Applied in array order, all or none. The kept user receives the values it lacks; counts, sums and dates are combined. The merge is complete when the response arrives. `merge_updates` is required.
         *
         *     Permission: `users.merge`.
         */
        post: operations["mergeUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deletes users with everything about them.
         * @description One kind of identifier per request, at most 50. This cannot be undone.
         *
         *     Permission: `users.delete`.
         */
        post: operations["deleteUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/identity-audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists merges, identifications and deletions of users with actor and time, newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["listIdentityAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Imports apps, devices, interactions and message history, which no other call writes.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        post: operations["importUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/imports/{import_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The progress of the import of a file.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        get: operations["getImport"];
        put?: never;
        /**
         * Imports consecutive rows of a file; a repeated batch is not written again.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        post: operations["createImport"];
        /**
         * Deletes the progress of an import, so that the file can be imported again.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        delete: operations["deleteImport"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/export/ids": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reads the profiles with the given identifiers.
         * @description Permission: `users.export.ids`.
         */
        post: operations["exportUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/export/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams all users, events, purchases or subscription states, one JSON object per line.
         * @description Needs the administrator's token, or a session of the dashboard with `export_user_data`.
         */
        get: operations["streamExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Finds users by an identifier prefix, or by a whole platform_id.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads everything that is stored about one user; a merged id gives the kept user.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Erases a user: profile, history, and the state of the address if no other user has it.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Sets attributes and subscription states of a user, checked as /users/track does.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data` and `view_pii`.
         */
        patch: operations["patchUser"];
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/users/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the events, purchases, messages, and changes of subscriptions, identity and attributes of one user, newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["getUserTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/users/{id}/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merges a user into another one, or previews what that would do.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data` and `view_pii`.
         */
        post: operations["mergeUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/subscription/status/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets subscription group states of users, several groups at once.
         * @description All or nothing. Users who share an email address all get the state. An object names users by `external_ids`, `emails` or `phones`; `emails` and `phones` cannot be combined.
         *
         *     Permission: `subscription.status.set`.
         */
        post: operations["setSubscriptionStates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscription/status/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets a subscription group state of users.
         * @description An email group needs `external_id` or `email`, an SMS or WhatsApp group `external_id` or `phone`.
         *
         *     Permission: `subscription.status.set`.
         */
        post: operations["setSubscriptionState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sets the email subscription state of addresses.
         * @description A state for an address that no user has yet applies as soon as one gets it.
         *
         *     Permission: `email.status`.
         */
        post: operations["setEmailState"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscription/status/get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the state of users in a subscription group.
         * @description Permission: `subscription.status.get`.
         */
        get: operations["getSubscriptionState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subscription/user/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the subscription groups of users with their states.
         * @description Permission: `subscription.groups.get`.
         */
        get: operations["listUserSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/unsubscribes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists addresses that unsubscribed in a period.
         * @description Permission: `email.unsubscribe`.
         */
        get: operations["listUnsubscribes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/hard_bounces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists addresses that hard bounced in a period, newest first.
         * @description Permission: `email.hard_bounces`.
         */
        get: operations["listHardBounces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/bounce/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Removes addresses from the list of hard bounces.
         * @description Permission: `email.bounce.remove`.
         */
        post: operations["removeHardBounces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/blocklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unsubscribes addresses and records that they hard bounced.
         * @description Permission: `email.blacklist`.
         *
         *     Also served at `/email/blacklist`.
         */
        post: operations["blockEmails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/email/blacklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unsubscribes addresses and records that they hard bounced.
         * @description The same as `POST /email/blocklist`.
         */
        post: operations["blockEmailsAtEmailBlacklist"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/subscription-history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists changes of subscription states with actor and time, newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["listSubscriptionHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/email-states/{email}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erases the email state of an address and its history.
         * @description Needs the administrator's token, or a session of the dashboard with `import_update_user_data`.
         */
        delete: operations["eraseEmailState"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/joined-spellings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists spellings of addresses that an upgrade made one address with another spelling.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["listJoinedSpellings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the names of events, 250 a page, in alphabetical order.
         * @description Permission: `events.list`.
         */
        get: operations["listEventNames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the events, 50 a page; `Link` has the next page.
         * @description Permission: `events.get`.
         */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/custom_attributes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the custom attributes, 50 a page; `Link` has the next page.
         * @description Permission: `custom_attributes.get`.
         */
        get: operations["getCustomAttributes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/purchases/product_list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the ids of products that were bought, 250 a page, in alphabetical order.
         * @description Permission: `purchases.product_list`.
         */
        get: operations["listProducts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/catalogue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the catalogue of a workspace: events, custom attributes or products, by name.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getCatalogue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the changes of users in the order of their commits.
         * @description Pass the `cursor` of the response to continue. With `wait_s` a request that finds nothing new waits for the next change. A cursor whose changes have been deleted gets 410 with `oldest`. docs/changes.md describes the changes.
         *
         *     Needs the administrator's token, or a session of the dashboard with `export_user_data` and `view_pii`.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the changes of users in the order of their commits.
         * @description Pass the `cursor` of the response to continue. With `wait_s` a request that finds nothing new waits for the next change. A cursor whose changes have been deleted gets 410 with `oldest`. docs/changes.md describes the changes.
         *
         *     Permission: `changes.get`.
         */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimates how many users meet a filter, or counts them.
         * @description An estimate looks at a sample of 5,000 users. `exact: true` counts all users; if that takes longer than a few seconds, the response is 202 with a count to ask for again.
         *
         *     Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        post: operations["countSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the exact counts that are running or waiting, and those of the last 30 days.
         * @description Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        get: operations["listSegmentCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/counts/{count_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads how far an exact count has come.
         * @description Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        get: operations["getSegmentCount"];
        put?: never;
        post?: never;
        /**
         * Cancels an exact count that runs.
         * @description Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        delete: operations["cancelSegmentCount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reads the users who meet a filter, page by page.
         * @description Needs the administrator's token, or a session of the dashboard with `export_user_data`.
         */
        post: operations["listSegmentUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Says whether a user meets a filter, condition by condition.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        post: operations["explainSegmentMembership"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segment-sizes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the recorded sizes of all segments in the last 30 days, and their last exact counts.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listSegmentSizes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/user-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts the users of a workspace.
         * @description Up to 1,000,000 users are counted, more are estimated from a sample of 5,000. A number is kept for a second, or for 50 times as long as counting took.
         *
         *     Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getUserCount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/users/{id}/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the segments that a user is in.
         * @description Needs the administrator's token, or a session of the dashboard with `view_user_profile` and `view_pii`.
         */
        get: operations["listSegmentsOfUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/attribute-values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists frequent values of an attribute among a sample of 1,000 users.
         * @description Needs the administrator's token, or a session of the dashboard with `view_pii` and `edit_segments`.
         */
        get: operations["suggestAttributeValues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the segments, 100 a page.
         * @description Permission: `segments.list`.
         */
        get: operations["listSegmentSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a segment, with its filter as a sentence.
         * @description Permission: `segments.details`.
         */
        get: operations["getSegmentDetails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/data_series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the estimated size of a segment day by day.
         * @description Permission: `segments.data_series`.
         */
        get: operations["getSegmentSizes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/export/segment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a link to an archive with the users of a segment, or writes them into the workspace's bucket.
         * @description The archive is written while it is downloaded, so it holds the users who meet the filter then. The link opens for four hours, a hundred times, and for as long as the API key may export. If the workspace has an `export_bucket`, files of 5,000 users are written there, below `object_prefix`.
         *
         *     Permission: `users.export.segment`.
         */
        post: operations["exportSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segment-exports/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Downloads an archive of users. The link is the permission. */
        get: operations["downloadSegmentExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the last 100 attempts of a webhook, the newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations` and `view_pii`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the changes that the receiver of a webhook refused, the newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        get: operations["listWebhookDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/dead-letters/{dead_letter_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Gives up a change that the receiver of a webhook refused.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        delete: operations["discardWebhookDeadLetter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a signed delivery without changes to a webhook, and shows the response.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delivers changes to a webhook again: all from a place in the feed on, or a dead letter.
         * @description From a position: in the background, beside new changes, one batch a second for each partition. A dead letter: at once, and the response shows the attempt. Changes and their ids are the same as before.
         *
         *     Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives a webhook a new secret, shown once; the previous one signs as well for an overlap.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cdi/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the warehouse integrations, ten per page.
         * @description Permission: `cdi.integration_list`.
         */
        get: operations["listIntegrations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cdi/integrations/{integration_id}/job_sync_status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the syncs of an integration, newest first, ten per page.
         * @description Permission: `cdi.integration_job_status`.
         */
        get: operations["listSyncs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/cdi/integrations/{integration_id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a sync of an integration now.
         * @description Permission: `cdi.integration_sync`.
         */
        post: operations["startSync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the warehouse integrations of all workspaces, optionally by name.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["findIntegrations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Starts a sync now and returns the id of its run.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        post: operations["startIntegrationRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the runs of an integration, newest first, ten per page.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listIntegrationRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a run: its status and row counts.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getIntegrationRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}/runs/{run_id}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the failed, skipped and waiting rows of a run, a hundred per page.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations` and `view_pii`.
         */
        get: operations["listIntegrationRunRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the warehouse integrations of a workspace as they are declared.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listDeclaredIntegrations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a warehouse integration as declared.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getIntegration"];
        /**
         * Creates or changes a warehouse integration.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        put: operations["putIntegration"];
        post?: never;
        /**
         * Removes a warehouse integration with its runs; synced data stays.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        delete: operations["deleteIntegration"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what integrations of a workspace may read: its connections, and the kinds of warehouses.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/source-kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the kinds of warehouses that a connection may have, with their settings.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listSourceKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/integrations/{integration_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Opens the source of an integration and reads three rows, without syncing anything.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations` and `view_pii`.
         */
        post: operations["testIntegration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/Users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists dashboard users, all or filtered, page by page.
         * @description Also served at `/scim/v2/Users/`.
         */
        get: operations["listDashboardUsers"];
        put?: never;
        /**
         * Creates a dashboard user.
         * @description Also served at `/scim/v2/Users/`.
         */
        post: operations["createDashboardUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/Users/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists dashboard users, all or filtered, page by page.
         * @description The same as `GET /scim/v2/Users`.
         */
        get: operations["listDashboardUsersAtScimV2Users"];
        put?: never;
        /**
         * Creates a dashboard user.
         * @description The same as `POST /scim/v2/Users`.
         */
        post: operations["createDashboardUserAtScimV2Users"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/Users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads a dashboard user. */
        get: operations["getDashboardUser"];
        /** Replaces a dashboard user; the userName stays. */
        put: operations["replaceDashboardUser"];
        post?: never;
        /** Removes a dashboard user. */
        delete: operations["deleteDashboardUser"];
        options?: never;
        head?: never;
        /** Changes single attributes of a dashboard user. */
        patch: operations["patchDashboardUser"];
        trace?: never;
    };
    "/scim/v2/ServiceProviderConfig": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The features of SCIM 2.0 that the server supports. */
        get: operations["getScimConfiguration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/ResourceTypes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The kinds of resources: users. */
        get: operations["listScimResourceTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/ResourceTypes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads one of /scim/v2/ResourceTypes. */
        get: operations["getScimResourceType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/Schemas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The attributes of a user. */
        get: operations["listScimSchemas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scim/v2/Schemas/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads one of /scim/v2/Schemas. */
        get: operations["getScimSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dashboard-users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists dashboard users by user name, all or those whose name contains a text.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["findDashboardUsers"];
        put?: never;
        /**
         * Creates a dashboard user, who can then sign in with the identity provider.
         * @description Omitted department and permissions are those of scim_defaults; without them the department is required, and the user has no permissions. No mail is sent.
         *
         *     Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["addDashboardUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dashboard-users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a dashboard user with their permissions.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["readDashboardUser"];
        put?: never;
        post?: never;
        /**
         * Removes a dashboard user and ends their sessions.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["removeDashboardUser"];
        options?: never;
        head?: never;
        /**
         * Changes a dashboard user; omitted attributes stay.
         * @description Permissions take effect with the user's next request; a deactivated user's sessions end. The last active user with the company's admin permission keeps it.
         *
         *     Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        patch: operations["changeDashboardUser"];
        trace?: never;
    };
    "/admin/v1/dashboard-users/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Signs a dashboard user out in every browser.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["signOutDashboardUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/upgrades": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists what upgrades did to stored data, and the dashboard users that they left to you.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listUpgradeSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaign/translations/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the translations of a campaign or of one of its messages.
         * @description Permission: `campaigns.translations.get`.
         *
         *     Also served at `/campaign/translations`, `/campaigns/translations`.
         */
        get: operations["listCampaignTranslations"];
        /**
         * Sets all strings of a campaign's message in one locale.
         * @description Permission: `campaigns.translations.update`.
         *
         *     Also served at `/campaign/translations`, `/campaigns/translations`.
         */
        put: operations["setCampaignTranslation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaign/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the translations of a campaign or of one of its messages.
         * @description The same as `GET /campaign/translations/`.
         */
        get: operations["listCampaignTranslationsAtCampaignTranslations"];
        /**
         * Sets all strings of a campaign's message in one locale.
         * @description The same as `PUT /campaign/translations/`.
         */
        put: operations["setCampaignTranslationAtCampaignTranslations"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the translations of a campaign or of one of its messages.
         * @description The same as `GET /campaign/translations/`.
         */
        get: operations["listCampaignTranslationsAtCampaignsTranslations"];
        /**
         * Sets all strings of a campaign's message in one locale.
         * @description The same as `PUT /campaign/translations/`.
         */
        put: operations["setCampaignTranslationAtCampaignsTranslations"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/canvases/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the translations of a canvas or of one of its messages.
         * @description Permission: `canvas.translations.get`.
         *
         *     Also served at `/canvas/translations`.
         */
        get: operations["listCanvasTranslations"];
        /**
         * Sets all strings of a canvas's message in one locale.
         * @description Permission: `canvas.translations.update`.
         *
         *     Also served at `/canvas/translations`.
         */
        put: operations["setCanvasTranslation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/canvas/translations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the translations of a canvas or of one of its messages.
         * @description The same as `GET /canvases/translations`.
         */
        get: operations["listCanvasTranslationsAtCanvasTranslations"];
        /**
         * Sets all strings of a canvas's message in one locale.
         * @description The same as `PUT /canvases/translations`.
         */
        put: operations["setCanvasTranslationAtCanvasTranslations"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaign/translations/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the source strings of a campaign's message.
         * @description Permission: `campaigns.translations.get`.
         *
         *     Also served at `/campaigns/translations/source`.
         */
        get: operations["getCampaignTranslationSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/translations/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the source strings of a campaign's message.
         * @description The same as `GET /campaign/translations/source`.
         */
        get: operations["getCampaignTranslationSourceAtCampaignsTranslationsSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/canvases/translations/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the source strings of a canvas's message.
         * @description Permission: `canvas.translations.get`.
         *
         *     Also served at `/canvas/translations/source`.
         */
        get: operations["getCanvasTranslationSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/canvas/translations/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the source strings of a canvas's message.
         * @description The same as `GET /canvases/translations/source`.
         */
        get: operations["getCanvasTranslationSourceAtCanvasTranslationsSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the campaigns of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listCampaigns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/canvases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the canvases of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listCanvases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/campaigns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Creates or renames a campaign.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["putCampaign"];
        post?: never;
        /**
         * Removes a campaign with its messages and their translations.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/canvases/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Creates a canvas, or sets its name and steps.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["putCanvas"];
        post?: never;
        /**
         * Removes a canvas with its messages and their translations.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        delete: operations["deleteCanvas"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a message with its strings and all translations of them.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getMessage"];
        /**
         * Creates or changes a message of a campaign or of a step of a canvas.
         * @description Either `campaign_id`, or `canvas_id` and `step_id`.
         *
         *     Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["putMessage"];
        post?: never;
        /**
         * Removes a message with its translations.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        delete: operations["deleteMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/messages/{id}/translations/{locale_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Sets the strings of a message in one locale; missing ones fall back to the source.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["setMessageTranslation"];
        post?: never;
        /**
         * Removes the strings of a message in one locale.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        delete: operations["deleteMessageTranslation"];
        options?: never;
        head?: never;
        /**
         * Sets or removes single strings of a message in one locale; the others stay as they are.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        patch: operations["changeMessageTranslation"];
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/messages/{id}/render": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Renders a message in a locale, or its source, without a recipient.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["renderMessage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/messages/{id}/translations.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports the strings of a message and their translations as CSV.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["exportTranslationsAsCsv"];
        /**
         * Imports translations from CSV; strings missing from the file are unchanged.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["importTranslationsFromCsv"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/messages/{id}/translations.xliff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports the strings of a message and their translations as XLIFF 1.2.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["exportTranslationsAsXliff"];
        /**
         * Imports translations from XLIFF 1.2; strings missing from the file are unchanged.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["importTranslationsFromXliff"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preference_center/v1/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the preference centers.
         * @description Permission: `preference_center.list`.
         */
        get: operations["listPreferenceCenters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preference_center/v1/{preference_center_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a preference center.
         * @description Permission: `preference_center.get`.
         */
        get: operations["getPreferenceCenter"];
        /**
         * Changes a preference center; omitted members stay.
         * @description Permission: `preference_center.update`.
         */
        put: operations["updatePreferenceCenter"];
        /**
         * Changes a preference center, as PUT does.
         * @description Permission: `preference_center.update`.
         */
        post: operations["updatePreferenceCenterByPost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preference_center/v1": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a preference center.
         * @description Permission: `preference_center.update`.
         */
        post: operations["createPreferenceCenter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preference_center/v1/{preference_center_id}/url/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the URL of a user's page.
         * @description Permission: `preference_center.user.get`.
         */
        get: operations["getPreferencePageUrl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/preference-page-links/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Signs links to preference pages with a new secret; links signed with earlier secrets work for an overlap.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["rotatePreferencePageLinks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/preference-centers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the preference centers of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listDeclaredPreferenceCenters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/preference-centers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a preference center.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getDeclaredPreferenceCenter"];
        /**
         * Creates or changes a preference center; omitted fields get the same defaults as in a manifest.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_email_settings`.
         */
        put: operations["putPreferenceCenter"];
        post?: never;
        /**
         * Removes a preference center; the states that users chose are kept.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_email_settings`.
         */
        delete: operations["deletePreferenceCenter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/preference-centers/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows a page of a preference center as a sample user, or a real one, would see it.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access` and `view_pii`.
         */
        get: operations["previewPreferenceCenter"];
        put?: never;
        /**
         * Checks the content of a preference center and shows its page, without saving anything.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access` and `view_pii`.
         */
        post: operations["previewPreferenceCenterContent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/preference-centers/{id}/preview-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a link to a preview that opens for ten minutes, without any header.
         * @description It shows the page of a sample user, never a real one's.
         *
         *     Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        post: operations["previewLinkPreferenceCenter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preferences/{link}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a user the page where users choose what they receive. */
        get: operations["showPreferencePage"];
        put?: never;
        /** Saves a user's choices, or the one-click unsubscribe of a mail program (RFC 8058). */
        post: operations["submitPreferencePage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/preference-previews/{link}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows the preview that an administrator made a link for; it opens for ten minutes. */
        get: operations["getPreferencePreview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Applies a manifest.
         * @description All of it or nothing. An included list replaces what earlier manifests declared.
         *
         *     Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["applyManifest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/manifest.schema.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The JSON Schema of a manifest, for editors. */
        get: operations["getManifestSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deletes the user data of a workspace that has allow_reset: true.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        post: operations["resetWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the workspace with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `add_remove_app_groups` of the company.
         */
        get: operations["getWorkspace"];
        /**
         * Creates the workspace with this name, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `add_remove_app_groups` of the company.
         */
        put: operations["putWorkspace"];
        post?: never;
        /**
         * Deletes a workspace with everything in it, if it has no users or allow_reset: true.
         * @description Its API keys stop working, on other servers within a second. A manifest that still declares it creates it again, empty.
         *
         *     Needs the administrator's token, or a session of the dashboard with `add_remove_app_groups` of the company.
         */
        delete: operations["deleteWorkspace"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/manifest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Writes the manifest that creates this workspace, with variables in place of secrets.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        get: operations["exportManifest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/company": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the company.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getCompany"];
        /**
         * Sets the company; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        put: operations["putCompany"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the workspaces.
         * @description Needs the administrator's token, or a session of the dashboard with `add_remove_app_groups` of the company.
         */
        get: operations["listWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/mail-domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the mail domains of the company.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getMailDomains"];
        /**
         * Sets the mail domains of the company; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        put: operations["putMailDomains"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the connections of the company.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listConnections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/connections/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the connection with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getConnection"];
        /**
         * Creates the connection with this name, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        put: operations["putConnection"];
        post?: never;
        /**
         * Removes the connection with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["deleteConnection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/permission-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the permission sets of the company.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listPermissionSets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/permission-sets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the permission set with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getPermissionSet"];
        /**
         * Creates the permission set with this name, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        put: operations["putPermissionSet"];
        post?: never;
        /**
         * Removes the permission set with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["deletePermissionSet"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/scim-defaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the scim defaults of the company.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getScimDefaults"];
        /**
         * Sets the scim defaults of the company; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        put: operations["putScimDefaults"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the settings of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getSettings"];
        /**
         * Sets the settings of a workspace; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        put: operations["putSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the apps of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listApps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/apps/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the app with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getApp"];
        /**
         * Creates the app with this id, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_apps`.
         */
        put: operations["putApp"];
        post?: never;
        /**
         * Removes the app with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_apps`.
         */
        delete: operations["deleteApp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/subscription-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the subscription groups of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listSubscriptionGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/subscription-groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the subscription group with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getSubscriptionGroup"];
        /**
         * Creates the subscription group with this id, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_subscription_groups`.
         */
        put: operations["putSubscriptionGroup"];
        post?: never;
        /**
         * Removes the subscription group with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_subscription_groups`.
         */
        delete: operations["deleteSubscriptionGroup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the teams of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listTeams"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/teams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the team with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getTeam"];
        /**
         * Creates the team with this name, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_teams`.
         */
        put: operations["putTeam"];
        post?: never;
        /**
         * Removes the team with this name.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_teams`.
         */
        delete: operations["deleteTeam"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/locales": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the locales of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listLocales"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/locales/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the locale with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getLocale"];
        /**
         * Creates the locale with this id, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        put: operations["putLocale"];
        post?: never;
        /**
         * Removes the locale with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `send_campaigns_canvases`.
         */
        delete: operations["deleteLocale"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the segments of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["listSegments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/segments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the segment with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `basic_access`.
         */
        get: operations["getSegment"];
        /**
         * Creates the segment with this id, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        put: operations["putSegment"];
        post?: never;
        /**
         * Removes the segment with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `edit_segments`.
         */
        delete: operations["deleteSegment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the webhooks of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the webhook with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_external_integrations`.
         */
        get: operations["getWebhook"];
        /**
         * Creates the webhook with this id, or changes it; omitted fields reset to their defaults.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        put: operations["putWebhook"];
        post?: never;
        /**
         * Removes the webhook with this id.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the API keys of a workspace, including revoked ones.
         * @description Needs the administrator's token, or a session of the dashboard with `dev_console`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Creates an API key and shows its secret once.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/api-keys/{key}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives an API key a new secret, shown once; the previous one stays valid for an overlap.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/api-keys/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Changes the permissions and allowed addresses of an API key; its secret stays.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        put: operations["changeApiKey"];
        post?: never;
        /**
         * Revokes an API key: its secrets stop working. This cannot be undone.
         * @description Needs the administrator's token, or a session of the dashboard with `admin`.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/scim-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the SCIM tokens of the company, including revoked ones.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listScimTokens"];
        put?: never;
        /**
         * Creates a SCIM token and shows its secret once.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["createScimToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/scim-tokens/{token}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives a SCIM token a new secret, shown once; the previous one stays valid for an overlap.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["rotateScimToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/scim-tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Changes the service origin of a SCIM token; its secret stays.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        put: operations["changeScimToken"];
        post?: never;
        /**
         * Revokes a SCIM token: its secrets stop working. This cannot be undone.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["revokeScimToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the audit: who changed what, when and from where, newest first.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports the audit as one JSON entry per line, oldest first, for log collectors.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["exportAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Checks that no entry of the audit was changed, removed or inserted.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["verifyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/engine-copies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copies the files of the embedded engine, for rapport backup on the same machine.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["createEngineCopy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/engine-copies/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Removes a copy of the embedded engine that rapport backup has read.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        delete: operations["deleteEngineCopy"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/secret-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows the key that seals stored secrets, and how many secrets each key has sealed.
         * @description Needs the administrator's token, or a session of the dashboard with `manage_company_settings` of the company.
         */
        get: operations["getSecretKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/secret-key/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seals every stored secret with SECRET_KEY.
         * @description Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["rotateSecretKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/captured": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the calls that a workspace with capture_unsupported has captured, newest first.
         * @description A workspace keeps the last 10,000 calls, at most 64 MB, for at most seven days. A page ends early where its calls are large.
         *
         *     Needs the administrator's token, or a session of the dashboard with `dev_console` and `view_pii`.
         */
        get: operations["getCaptured"];
        put?: never;
        post?: never;
        /**
         * Deletes the captured calls of a workspace.
         * @description Needs the administrator's token, or a session of the dashboard with `dev_console`.
         */
        delete: operations["deleteCaptured"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the person signed in to the dashboard and their permissions. */
        get: operations["getSession"];
        put?: never;
        /**
         * Signs in to the dashboard with the admin token.
         * @description Sets a cookie. Browsers may send this request only from the dashboard's own pages.
         */
        post: operations["signIn"];
        /** Signs out of the dashboard in this browser. */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Signs out of the dashboard in every browser. */
        delete: operations["signOutEverywhere"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/sign-in-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a one-time link that signs in to the dashboard.
         * @description It signs in its maker: with the admin token the administrator, within a session of a dashboard user that user; removing the user ends the link's session.
         *
         *     Needs the administrator's token, or a session of the dashboard with `admin` of the company.
         */
        post: operations["createSignInLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the latest requests of API keys with their verdicts, newest first.
         * @description Those of all servers on the database: each process keeps its latest ones in memory (`LIVE_REQUESTS`) and writes at most 100 of them a second, refused ones first, where other servers find them. Bodies, responses, messages, users and paths with them are shown to those with view_pii.
         *
         *     Needs the administrator's token, or a session of the dashboard with `dev_console`.
         */
        get: operations["listLiveRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/requests/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Streams requests of API keys with their verdicts as they come in, as server-sent events.
         * @description Each event `request` holds one request as JSON; `skipped` tells how many were left out because too many came in at once. The stream ends after its time, when the session ends or the permission is revoked, and when the server stops; browsers connect again by themselves. Four streams for each person and sixteen for each workspace are open at a time, on each server process.
         *
         *     Needs the administrator's token, or a session of the dashboard with `dev_console`.
         */
        get: operations["streamLiveRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads one of the latest requests of API keys.
         * @description Needs the administrator's token, or a session of the dashboard with `dev_console`.
         */
        get: operations["getLiveRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/workspaces/{name}/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads the traffic of a workspace over time, and what needs attention.
         * @description Every list has a number for each slot, oldest first. All server processes count: those of this machine up to now, others and those before a restart up to ten seconds ago. Findings about syncs need basic_access, those about keys dev_console.
         *
         *     Needs the administrator's token, or a session of the dashboard with `view_usage_data`.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    changes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A batch of the change feed.
         * @description Signed as Standard Webhooks. It is sent again, with the same `webhook-id`, until the receiver responds with a 2xx within 15 seconds.
         */
        post: operations["receiveChanges"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description Gives the user with the alias an external_id.
         * @example {
         *       "external_id": "ada",
         *       "user_alias": {
         *         "alias_name": "visitor-4711",
         *         "alias_label": "web_visitor"
         *       }
         *     }
         */
        AliasToIdentify: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id: string | number;
            user_alias: components["schemas"]["UserAlias"];
        };
        /**
         * @description Renames an alias under its label.
         * @example {
         *       "alias_label": "web_visitor",
         *       "old_alias_name": "visitor-4711",
         *       "new_alias_name": "visitor-4712"
         *     }
         */
        AliasUpdate: {
            /**
             * @description What kind of alias it is.
             * @example web_visitor
             */
            alias_label: string;
            /**
             * @description The user's name under the label. Numbers are read as strings.
             * @example visitor-4711
             */
            old_alias_name: string | number;
            /**
             * @description The user's name under the label. Numbers are read as strings.
             * @example visitor-4711
             */
            new_alias_name: string | number;
        };
        /** @description Adds to and removes from an array. */
        ArrayChange: {
            /**
             * @description Elements to add if they are missing.
             * @example [
             *       "chess"
             *     ]
             */
            add?: (string | number | boolean)[];
            /**
             * @description Elements to remove.
             * @example [
             *       "chess"
             *     ]
             */
            remove?: (string | number | boolean)[];
        };
        /**
         * @description Attributes of one user. Exactly one of `external_id`, `user_alias` and `platform_id`, or else `email` or `phone`, identifies the user. Every other key is a standard or a custom attribute.
         * @example {
         *       "external_id": "ada",
         *       "first_name": "Ada",
         *       "email": "ada@example.com",
         *       "plan": "gold",
         *       "logins": {
         *         "inc": 1
         *       },
         *       "hobbies": {
         *         "add": [
         *           "chess"
         *         ]
         *       }
         *     }
         */
        AttributesObject: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id?: string | number;
            user_alias?: components["schemas"]["UserAlias"];
            /**
             * @description The id that Rapport gave the profile.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            platform_id?: string;
            /**
             * @description Another spelling of `platform_id`.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            braze_id?: string;
            /**
             * @description An email address. Its case does not matter. Null removes it.
             * @example ada@example.com
             */
            email?: string | null;
            /**
             * @description A phone number with its country code, best in E.164. Null removes it.
             * @example +14155552671
             */
            phone?: string | null;
            /**
             * @description The first name. Null removes it.
             * @example Ada
             */
            first_name?: string | null;
            /**
             * @description The last name. Null removes it.
             * @example Lovelace
             */
            last_name?: string | null;
            /**
             * @description The date of birth, as YYYY-MM-DD. Null removes it.
             * @example 1815-12-10
             */
            dob?: string | null;
            /**
             * @description M, F, O (other), N (not applicable), P (prefer not to say), or a word for one of them. Null removes it.
             * @example F
             */
            gender?: string | null;
            /**
             * @description The city. Null removes it.
             * @example London
             */
            home_city?: string | null;
            /**
             * @description An ISO 3166-1 code, or the English name of a country. Null removes it.
             * @example GB
             */
            country?: string | null;
            /**
             * @description An ISO 639-1 code, or the English name of a language. Null removes it.
             * @example en
             */
            language?: string | null;
            /**
             * @description An IANA or Rails name of a time zone. Null removes it.
             * @example Europe/London
             */
            time_zone?: string | null;
            /**
             * @description Where the user is. Null removes it.
             * @example {
             *       "longitude": -73.99,
             *       "latitude": 40.73
             *     }
             */
            current_location?: ({
                /**
                 * @description Degrees.
                 * @example -73.99
                 */
                longitude: number;
                /**
                 * @description Degrees.
                 * @example 40.73
                 */
                latitude: number;
            } & {
                [key: string]: number;
            }) | null;
            /**
             * @description The email state of the user's address. Null removes it.
             * @example opted_in
             */
            email_subscribe?: ("subscribed" | "unsubscribed" | "opted_in") | null;
            /**
             * @description The push state of the user. Null removes it.
             * @example opted_in
             */
            push_subscribe?: ("subscribed" | "unsubscribed" | "opted_in") | null;
            /**
             * @description The URL of a picture. Null removes it.
             * @example https://example.com/ada.png
             */
            image_url?: string | null;
            /**
             * @description The user's Facebook account. Null removes it.
             * @example {
             *       "id": "4711"
             *     }
             */
            facebook?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The user's Twitter account. Null removes it.
             * @example {
             *       "id": "4711"
             *     }
             */
            twitter?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description When the user first used an app, ISO 8601. Null removes it.
             * @example 2026-01-01T12:00:00Z
             */
            date_of_first_session?: string | null;
            /**
             * @description When the user last used an app, ISO 8601. Null removes it.
             * @example 2026-02-01T12:00:00Z
             */
            date_of_last_session?: string | null;
            /**
             * @description When the user reported an email as spam, ISO 8601. Null removes it.
             * @example 2026-02-01T12:00:00Z
             */
            marked_email_as_spam_at?: string | null;
            /**
             * @description Whether opens of emails are not tracked. Null removes it.
             * @example false
             */
            email_open_tracking_disabled?: boolean | null;
            /**
             * @description Whether clicks in emails are not tracked. Null removes it.
             * @example false
             */
            email_click_tracking_disabled?: boolean | null;
            /**
             * @description Push tokens to add. Null removes it.
             * @example [
             *       {
             *         "app_id": "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
             *         "token": "fcm:eXampleT0ken"
             *       }
             *     ]
             */
            push_tokens?: components["schemas"]["PushToken"][] | null;
            /**
             * @description true never creates a user. A `user_alias` creates one only with false.
             * @example false
             */
            _update_existing_only?: boolean;
            /**
             * @description Whether objects are merged into stored ones, key by key, instead of replacing them.
             * @example true
             */
            _merge_objects?: boolean | ("true" | "false");
            /** @description States in subscription groups, of this user and of all who share the email address. */
            subscription_groups?: components["schemas"]["SubscriptionGroupState"][];
        } & {
            [key: string]: components["schemas"]["CustomAttribute"] | unknown;
        };
        /** @description A change of the feed: docs/changes.md. Later versions may add types and fields. */
        Change: {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "user.created" | "user.updated";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            /**
             * @description The names of the fields that have changed.
             * @example [
             *       "first_name",
             *       "custom_attributes.plan"
             *     ]
             */
            changed: string[];
            /**
             * @description Their values after the change; null where removed.
             * @example {
             *       "first_name": "Ada",
             *       "custom_attributes.plan": "gold"
             *     }
             */
            values: {
                [key: string]: unknown;
            };
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "user.identified";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            /** @description The identifiers before. */
            previous: {
                /** @description Your own id of the user. */
                external_id: string | null;
                /** @description Aliases of the user. */
                user_aliases: {
                    /** @description The user's name under the label. */
                    alias_name: string;
                    /** @description What kind of alias it is. */
                    alias_label: string;
                }[];
            };
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "user.merged";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            merged: components["schemas"]["ChangedUser"];
            /** @description Whether the events, purchases and states of `merged` moved to `user`. */
            keeps_activity: boolean;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "user.deleted";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "event.logged";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            /** @description The name. */
            name: string;
            /**
             * @description When it happened: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            time: string;
            /** @description Properties of the event or purchase. */
            properties: {
                [key: string]: unknown;
            };
            /** @description The app. */
            app_id: string | null;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "purchase.logged";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            /** @description The product. */
            product_id: string;
            /** @description An ISO 4217 code. */
            currency: string;
            /** @description The price of one piece. */
            price: number;
            /** @description How many pieces. */
            quantity: number;
            /**
             * @description When it happened: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            time: string;
            /** @description Properties of the event or purchase. */
            properties: {
                [key: string]: unknown;
            };
            /** @description The app. */
            app_id: string | null;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "subscription.changed";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user: components["schemas"]["ChangedUser"];
            /** @description A subscription group of the workspace. */
            subscription_group_id: string;
            /** @description The state before; null if there was none. */
            before: ("subscribed" | "unsubscribed") | null;
            /**
             * @description The state since then.
             * @example unsubscribed
             * @enum {string}
             */
            after: "subscribed" | "unsubscribed";
            /**
             * @description The call that set the state.
             * @example POST /email/status
             */
            source: string;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "email_state.changed";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            user?: components["schemas"]["ChangedUser"];
            /** @description An email address. */
            email: string;
            /** @description The state before; null if there was none. */
            before: ("opted_in" | "subscribed" | "unsubscribed") | null;
            /**
             * @description The state since then.
             * @example unsubscribed
             * @enum {string}
             */
            after: "opted_in" | "subscribed" | "unsubscribed";
            /**
             * @description The call that set the state.
             * @example POST /email/status
             */
            source: string;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "sync.finished";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            /** @description The integration. */
            integration_id: string;
            /** @description The run. */
            run_id: string;
            /**
             * @description How the run ended.
             * @enum {string}
             */
            status: "success" | "partial" | "error" | "config_error";
            /** @description Rows that were written. */
            rows_synced: number;
            /** @description Rows that were rejected. */
            rows_failed: number;
        } | {
            /**
             * @description Unique, and the same at every reading.
             * @example 019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s
             */
            id: string;
            /**
             * @description What has changed.
             * @enum {string}
             */
            type: "export.finished";
            /**
             * @description When it was written: ISO 8601.
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            /**
             * Format: uuid
             * @description The export.
             */
            export_id: string;
            /** @description The id of a segment. */
            segment_id: string;
            /**
             * @description The prefix of its objects' names.
             * @example exports/2026-01-31
             */
            object_prefix: string;
            /**
             * @description How the export ended.
             * @enum {string}
             */
            status: "success" | "error";
            /** @description Files that were written. */
            files: number;
            /** @description Users in them. */
            users: number;
        };
        /** @description How a change names a user. */
        ChangedUser: {
            /** @description The id that Rapport gave the profile. */
            platform_id: string;
            /** @description Your own id of the user. */
            external_id?: string;
            /** @description Aliases of the user. */
            user_aliases?: {
                /** @description The user's name under the label. */
                alias_name: string;
                /** @description What kind of alias it is. */
                alias_label: string;
            }[];
        };
        /**
         * @description The value of a custom attribute. Null removes it; `{"inc": 1}` adds to a number; `{"add": […], "remove": […]}` changes an array.
         * @example gold
         */
        CustomAttribute: string | number | boolean | null | unknown[] | components["schemas"]["Increment"] | components["schemas"]["ArrayChange"] | {
            [key: string]: unknown;
        };
        /**
         * @description The user's permissions, under the names of the SCIM interface.
         * @example {
         *       "companyPermissions": [],
         *       "appGroup": [
         *         {
         *           "appGroupName": "demo"
         *         }
         *       ]
         *     }
         */
        DashboardPermissions: {
            /** @description The user's permissions in the company. */
            companyPermissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
            /** @description By workspace. */
            appGroup?: {
                /** @description The name of the workspace. */
                appGroupName: string;
                /** @description The user's permissions in the workspace. */
                appGroupPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                /** @description Permission sets of the user in the workspace. */
                appGroupPermissionSets?: {
                    /** @description The name of the set. */
                    appGroupPermissionSetName: string;
                }[];
                /** @description Teams of the workspace. */
                team?: {
                    /** @description The name of the team. */
                    teamName: string;
                    /** @description The user's permissions in the team. */
                    teamPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library")[];
                }[];
            }[];
        };
        /** @description Someone who may sign in to the dashboard. */
        DashboardUser: {
            /**
             * @description The id of the dashboard user, as in SCIM.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            id: string;
            /**
             * @description The email address that the user signs in with.
             * @example ada@acme.example
             */
            user_name: string;
            /**
             * @description The given name. Empty if there is none.
             * @example Ada
             */
            given_name: string;
            /**
             * @description The family name. Empty if there is none.
             * @example Lovelace
             */
            family_name: string;
            /**
             * @description The name to show; null for given and family name.
             * @example Ada Lovelace
             */
            display_name: string | null;
            /** @description Whether the user may sign in. */
            active: boolean;
            permissions: components["schemas"]["DashboardPermissions"];
            /**
             * @description The department.
             * @enum {string}
             */
            department: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
            /** @description Whether an identity provider manages the user: it may change them back. */
            from_scim: boolean;
            /** @description The last sign-in; null before the first. */
            last_sign_in_at: string | null;
            /**
             * @description When the user was created.
             * @example 2026-01-01T12:00:00.000Z
             */
            created_at: string;
            /**
             * @description When the user last changed.
             * @example 2026-01-01T12:00:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description Names one user by email address.
         * @example {
         *       "email": "ada@example.com",
         *       "prioritization": [
         *         "most_recently_updated"
         *       ]
         *     }
         */
        EmailSelector: {
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email: string;
            prioritization: components["schemas"]["Prioritization"];
        };
        /**
         * @description Gives the user with the email address an external_id.
         * @example {
         *       "external_id": "ada",
         *       "email": "ada@example.com",
         *       "prioritization": [
         *         "unidentified",
         *         "most_recently_updated"
         *       ]
         *     }
         */
        EmailToIdentify: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id: string | number;
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email: string;
            prioritization: components["schemas"]["Prioritization"];
        };
        /**
         * @description One occurrence of a custom event. Exactly one identifier names the user.
         * @example {
         *       "external_id": "ada",
         *       "name": "signed_up",
         *       "time": "2026-01-01T12:00:00Z",
         *       "properties": {
         *         "source": "newsletter"
         *       }
         *     }
         */
        EventObject: {
            /**
             * @description The name of the event.
             * @example signed_up
             */
            name: string;
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id?: string | number;
            user_alias?: components["schemas"]["UserAlias"];
            /**
             * @description The id that Rapport gave the profile.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            platform_id?: string;
            /**
             * @description Another spelling of `platform_id`.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            braze_id?: string;
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email?: string;
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone?: string;
            /**
             * @description The app where it happened.
             * @example 7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11
             */
            app_id?: string;
            /**
             * @description When it happened: ISO 8601, or `yyyy-MM-dd'T'HH:mm:ss:SSSZ`. A future time becomes now.
             * @example 2026-01-01T12:00:00Z
             */
            time: string;
            /**
             * @description Properties by name. Names have 1 to 255 characters and no leading `$`; with arrays or objects inside, all of them together take at most 50 KB.
             * @example {
             *       "source": "newsletter"
             *     }
             */
            properties?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description true never creates a user. With a `user_alias` this is always the case.
             * @example false
             */
            _update_existing_only?: boolean;
        };
        /**
         * @description The requested fields of a profile.
         * @example {
         *       "external_id": "ada",
         *       "first_name": "Ada",
         *       "custom_attributes": {
         *         "plan": "gold",
         *         "logins": 1
         *       },
         *       "custom_events": [
         *         {
         *           "name": "signed_up",
         *           "first": "2026-01-01T12:00:00.000Z",
         *           "last": "2026-01-01T12:00:00.000Z",
         *           "count": 1
         *         }
         *       ]
         *     }
         */
        ExportedUser: {
            [key: string]: unknown;
        };
        /**
         * @description Gives the user of one external_id another.
         * @example {
         *       "current_external_id": "ada",
         *       "new_external_id": "ada-lovelace"
         *     }
         */
        ExternalIdRename: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            current_external_id: string | number;
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            new_external_id: string | number;
        };
        /**
         * @description History of one user. Exactly one identifier names the user.
         * @example {
         *       "external_id": "ada",
         *       "apps": [
         *         {
         *           "app_id": "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
         *           "sessions": 12,
         *           "first_used": "2025-06-01T08:00:00Z",
         *           "last_used": "2026-01-01T12:00:00Z"
         *         }
         *       ],
         *       "messages": [
         *         {
         *           "message_id": "m-1",
         *           "channel": "email",
         *           "sent_at": "2026-01-01T12:00:00Z"
         *         }
         *       ]
         *     }
         */
        ImportedUser: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id?: string | number;
            user_alias?: components["schemas"]["UserAlias"];
            /**
             * @description The id that Rapport gave the profile.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            platform_id?: string;
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email?: string;
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone?: string;
            /** @description The apps. */
            apps?: {
                /** @description The app. */
                app_id: string;
                /** @description The name. */
                name?: string;
                /** @description The platform of the app. */
                platform?: string;
                /**
                 * @description The version of the app.
                 * @example 2.4.0
                 */
                version?: string;
                /** @description How often the user opened the app. */
                sessions: number;
                /**
                 * @description When the user first used the app, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                first_used: string;
                /**
                 * @description When the user last used the app, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_used: string;
            }[];
            /** @description Devices of the user. */
            devices?: {
                /**
                 * @description The device.
                 * @example device-0001
                 */
                device_id: string;
                /**
                 * @description The model of the device.
                 * @example Pixel 9
                 */
                model?: string;
                /**
                 * @description The operating system.
                 * @example Android 16
                 */
                os?: string;
                /**
                 * @description The mobile carrier.
                 * @example Example Mobile
                 */
                carrier?: string;
                /** @description Apple's id for vendors. */
                idfv?: string;
                /** @description Apple's id for advertisers. */
                idfa?: string;
                /** @description Google's advertising id. */
                google_ad_id?: string;
                /** @description Roku's advertising id. */
                roku_ad_id?: string;
                /** @description Whether the user allows ad tracking. */
                ad_tracking_enabled?: boolean;
            }[];
            /** @description Campaigns that the user received. */
            campaigns_received?: {
                /** @description The campaign. */
                api_campaign_id: string;
                /**
                 * @description When the user last received it, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_received: string;
                /** @description The name. */
                name?: string;
                /** @description The user's actions with it, by name. */
                engaged?: {
                    [key: string]: boolean;
                };
                /** @description Whether the user converted. */
                converted?: boolean;
                /** @description Whether the user converted more than once. */
                multiple_converted?: boolean;
                /** @description Whether the user was in the control group. */
                in_control?: boolean;
                /** @description The name of the variation. */
                variation_name?: string;
                /**
                 * @description The variation.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                variation_api_id?: string;
            }[];
            /** @description Canvases that the user entered. */
            canvases_received?: {
                /** @description The canvas. */
                api_canvas_id: string;
                /** @description The name. */
                name?: string;
                /**
                 * @description When the user last received a message of it, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_received_message?: string;
                /**
                 * @description When the user last entered it, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_entered?: string;
                /**
                 * @description When the user last entered its control group, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_entered_control_at?: string;
                /**
                 * @description When the user last left it, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_exited?: string;
                /** @description The name of the variation. */
                variation_name?: string;
                /** @description Whether the user was in the control group. */
                in_control?: boolean;
                /** @description Steps that the user received. */
                steps_received?: {
                    /** @description The step of the canvas. */
                    api_canvas_step_id: string;
                    /** @description The name. */
                    name?: string;
                    /**
                     * @description When the user last received it, ISO 8601.
                     * @example 2026-01-01T12:00:00.000Z
                     */
                    last_received?: string;
                }[];
            }[];
            /** @description Cards that the user clicked. */
            cards_clicked?: {
                /** @description The name. */
                name: string;
                /**
                 * @description When the user last clicked it, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                last_clicked?: string;
            }[];
            /** @description The messages. */
            messages?: {
                /**
                 * @description The message.
                 * @example m-1
                 */
                message_id: string;
                /** @description The channel. */
                channel: string;
                /**
                 * @description When it was sent, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                sent_at: string;
                /** @description The campaign. */
                api_campaign_id?: string;
                /** @description The canvas. */
                api_canvas_id?: string;
                /** @description The step of the canvas. */
                api_canvas_step_id?: string;
                /**
                 * @description When it was opened, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                opened_at?: string;
                /**
                 * @description When it was clicked, ISO 8601.
                 * @example 2026-01-01T12:00:00.000Z
                 */
                clicked_at?: string;
            }[];
            /** @description The Last_X_at fields, ISO 8601. */
            engagement_times?: {
                [key: string]: string;
            };
            /** @description Push tokens of the user. */
            push_tokens?: unknown;
        };
        /** @description Adds to a number. */
        Increment: {
            /**
             * @description How much to add; may be negative.
             * @example 1
             */
            inc: number;
        };
        /** @description Why an item was rejected. */
        ItemError: {
            /** @description Repeats `message`. */
            type: string;
            /**
             * @description The requirement of the rule.
             * @example no user has this alias
             */
            message: string;
            /**
             * @description A stable name of the rule: see the guide on errors.
             * @example USER_NOT_FOUND
             */
            code: string;
            /**
             * @description The list in the request with the item.
             * @example user_aliases
             */
            input_array: string;
            /**
             * @description Counted from 0.
             * @example 0
             */
            index: number;
        };
        /** @description Rapport's verdict on one item of a request. */
        ItemNote: {
            /**
             * @description The requirement of the rule.
             * @example no user has this alias
             */
            message: string;
            /**
             * @description A stable name of the rule: see the guide on errors.
             * @example USER_NOT_FOUND
             */
            code: string;
            /**
             * @description The list in the request with the item.
             * @example user_aliases
             */
            input_array: string;
            /**
             * @description Counted from 0.
             * @example 0
             */
            index: number;
        };
        /** @description A request of an API key. */
        LiveRequest: {
            /**
             * Format: uuid
             * @description The newer, the greater.
             */
            id: string;
            /**
             * @description When it was answered, in ISO 8601.
             * @example 2026-01-01T12:00:00.000Z
             */
            at: string;
            /**
             * @description The HTTP method.
             * @example POST
             */
            method: string;
            /**
             * @description Without the query. As declared for callers without view_pii: a parameter may name a user.
             * @example /users/track
             */
            path: string;
            /**
             * @description The HTTP status.
             * @example 201
             */
            status: number;
            /**
             * @description How long it took.
             * @example 4.2
             */
            duration_ms: number;
            /**
             * @description The server process that answered it.
             * @example app-1 (process 4711)
             */
            server: string;
            /** @description The API key. */
            key: {
                /** @description The id of the key. */
                id: string;
                /**
                 * @description Its name.
                 * @example backend
                 */
                name: string;
            };
            /** @description At most 200; none if the body was too large. */
            items: {
                /** @description Its place in its list, from 0. */
                index: number;
                /**
                 * @description The list with the item.
                 * @example events
                 */
                kind: string;
                /** @description Whether it took effect. */
                accepted: boolean;
                /**
                 * @description Why not.
                 * @example INVALID_TIME
                 */
                code: string | null;
                /**
                 * @description The same as a sentence; null without view_pii.
                 * @example 'time' must be a date in ISO 8601
                 */
                message: string | null;
                /**
                 * @description The user that it names; null without view_pii.
                 * @example ada
                 */
                user: string | null;
            }[];
            /** @description How many items were rejected or skipped. */
            rejected: number;
            /**
             * @description Why the request was refused as a whole.
             * @example INVALID_LOCALE_ID
             */
            code: string | null;
            /** @description The body; null without view_pii, and if it had more than 64 KB. */
            body: unknown;
            /** @description The response; null without view_pii, and if it was long. */
            response: unknown;
        };
        /**
         * @description Merges one user into another. The first is gone afterwards.
         * @example {
         *       "identifier_to_merge": {
         *         "external_id": "ada-old"
         *       },
         *       "identifier_to_keep": {
         *         "external_id": "ada"
         *       }
         *     }
         */
        MergeUpdate: {
            identifier_to_merge: components["schemas"]["UserSelector"];
            identifier_to_keep: components["schemas"]["UserSelector"];
        };
        /**
         * @description A dashboard user to create. Names of members are accepted in any case.
         * @example {
         *       "schemas": [
         *         "urn:ietf:params:scim:schemas:core:2.0:User"
         *       ],
         *       "name": {
         *         "givenName": "Ada",
         *         "familyName": "Lovelace"
         *       },
         *       "department": "engineering",
         *       "permissions": {
         *         "companyPermissions": [
         *           "manage_company_settings"
         *         ],
         *         "appGroup": []
         *       },
         *       "userName": "ada@acme.example"
         *     }
         */
        NewScimUser: {
            /**
             * @description Must contain `urn:ietf:params:scim:schemas:core:2.0:User`.
             * @example [
             *       "urn:ietf:params:scim:schemas:core:2.0:User"
             *     ]
             */
            schemas: string[];
            /**
             * @description The id that the identity provider has for the user.
             * @example 00u1ada
             */
            externalId?: string;
            /** @description The user's email address. It cannot be changed. */
            userName: string;
            /** @description The user's name. */
            name: {
                /** @description The given name. */
                givenName?: string;
                /** @description The family name. */
                familyName?: string;
            };
            /** @description The name to show. */
            displayName?: string;
            /** @description Whether the user may sign in; true by default. */
            active?: boolean;
            /** @description Email addresses. */
            emails?: {
                /** @description The address. */
                value?: string;
                /** @description The address to show. */
                display?: string;
                /** @description The kind of address, such as work or home. */
                type?: string;
                /** @description Whether it is the preferred one. */
                primary?: boolean;
            }[];
            /**
             * @description The user's department.
             * @enum {string}
             */
            department: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
            /** @description The user's permissions. */
            permissions: {
                /** @description The user's permissions in the company. */
                companyPermissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                /** @description Workspaces that the user may enter. */
                appGroup?: {
                    /** @description The workspace's name. */
                    appGroupName: string;
                    /** @description The user's permissions in the workspace. */
                    appGroupPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                    /** @description Teams of the workspace. */
                    team?: {
                        /** @description The team's name. */
                        teamName: string;
                        /** @description The user's permissions in the team. */
                        teamPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library")[];
                    }[];
                    /** @description Permission sets of the user in the workspace. */
                    appGroupPermissionSets?: {
                        /** @description The permission set's name. */
                        appGroupPermissionSetName: string;
                    }[];
                }[];
            };
        };
        /**
         * @description With an `external_id` that user gets the alias; without one an alias-only user is created.
         * @example {
         *       "external_id": "ada",
         *       "alias_name": "visitor-4711",
         *       "alias_label": "web_visitor"
         *     }
         */
        NewUserAlias: {
            /**
             * @description The user's name under the label. Numbers are read as strings.
             * @example visitor-4711
             */
            alias_name: string | number;
            /**
             * @description What kind of alias it is.
             * @example web_visitor
             */
            alias_label: string;
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id?: string | number;
        };
        /** @description There is no session, or it has ended. */
        NotSignedIn: {
            /** @description `success`, or the fault. */
            message: string;
            /** @description How to sign in. */
            sign_in: {
                /** @description The identity provider; null if none is set up. */
                oidc: {
                    /** @description The provider's name. */
                    name: string;
                    /** @description The address that starts a sign-in. */
                    url: string;
                } | null;
            };
        };
        /**
         * @description Names one user by phone number.
         * @example {
         *       "phone": "+14155552671",
         *       "prioritization": [
         *         "most_recently_updated"
         *       ]
         *     }
         */
        PhoneSelector: {
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone: string;
            prioritization: components["schemas"]["Prioritization"];
        };
        /**
         * @description Gives the user with the phone number an external_id.
         * @example {
         *       "external_id": "ada",
         *       "phone": "+14155552671",
         *       "prioritization": [
         *         "unidentified",
         *         "most_recently_updated"
         *       ]
         *     }
         */
        PhoneToIdentify: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id: string | number;
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone: string;
            prioritization: components["schemas"]["Prioritization"];
        };
        /**
         * @description Rules, in order, for choosing one of several users with this address. If several remain, the item is skipped.
         * @example [
         *       "identified",
         *       "most_recently_updated"
         *     ]
         */
        Prioritization: ("identified" | "unidentified" | "most_recently_updated" | "least_recently_updated")[];
        /**
         * @description One purchase. Exactly one identifier names the user.
         * @example {
         *       "external_id": "ada",
         *       "product_id": "tea-kettle",
         *       "currency": "EUR",
         *       "price": 39.9,
         *       "quantity": 1,
         *       "time": "2026-01-01T12:05:00Z"
         *     }
         */
        PurchaseObject: {
            /**
             * @description The product. Numbers are read as strings.
             * @example tea-kettle
             */
            product_id: string | number;
            /**
             * @description An ISO 4217 code, in any case; a withdrawn one for purchases of its time.
             * @example EUR
             */
            currency: string;
            /**
             * @description The price per unit; a negative price is a refund.
             * @example 39.9
             */
            price: number;
            /**
             * @description How many units, 1 by default. Each counts as a purchase.
             * @example 1
             */
            quantity?: number;
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id?: string | number;
            user_alias?: components["schemas"]["UserAlias"];
            /**
             * @description The id that Rapport gave the profile.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            platform_id?: string;
            /**
             * @description Another spelling of `platform_id`.
             * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
             */
            braze_id?: string;
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email?: string;
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone?: string;
            /**
             * @description The app where it happened.
             * @example 7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11
             */
            app_id?: string;
            /**
             * @description When it happened: ISO 8601, or `yyyy-MM-dd'T'HH:mm:ss:SSSZ`. A future time becomes now.
             * @example 2026-01-01T12:00:00Z
             */
            time: string;
            /**
             * @description Properties by name. Names have 1 to 255 characters and no leading `$`; with arrays or objects inside, all of them together take at most 50 KB.
             * @example {
             *       "source": "newsletter"
             *     }
             */
            properties?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description true never creates a user. With a `user_alias` this is always the case.
             * @example false
             */
            _update_existing_only?: boolean;
        };
        /** @description A push token of a user. */
        PushToken: {
            /**
             * @description An app of the workspace.
             * @example 7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11
             */
            app_id: string;
            /**
             * @description The push token, at most 4,096 bytes.
             * @example fcm:eXampleT0ken
             */
            token: string;
            /**
             * @description The device; without one Rapport assigns an id.
             * @example device-0001
             */
            device_id?: string;
        };
        /** @description off, or a number of requests per number of seconds. */
        RateLimit: "off" | {
            /** @description How many requests are accepted. */
            requests: number;
            /** @description The number of seconds. */
            per_seconds: number;
        };
        /** @description Why a request was refused. Nothing was done. */
        Refusal: {
            /**
             * @description The fault, in one sentence.
             * @example 'email' must be a string
             */
            message: string;
            /**
             * @description The same, if the body is not JSON.
             * @example Error while parsing request body: …
             */
            error?: string;
            /**
             * @description The limit or rule, if it has a name.
             * @example WORK_LIMIT_EXCEEDED
             */
            code?: string;
            /** @description Every faulty item, if the request has items. */
            errors?: components["schemas"]["ItemError"][];
            /**
             * @description The place of the fault in a manifest or a body: keys and indexes.
             * @example [
             *       "workspaces",
             *       0,
             *       "apps"
             *     ]
             */
            path?: (string | number)[];
        };
        /**
         * @description The new state of a dashboard user. The userName stays.
         * @example {
         *       "schemas": [
         *         "urn:ietf:params:scim:schemas:core:2.0:User"
         *       ],
         *       "name": {
         *         "givenName": "Ada",
         *         "familyName": "Lovelace"
         *       },
         *       "department": "engineering",
         *       "permissions": {
         *         "companyPermissions": [
         *           "manage_company_settings"
         *         ],
         *         "appGroup": []
         *       }
         *     }
         */
        ReplacedScimUser: {
            /**
             * @description Must contain `urn:ietf:params:scim:schemas:core:2.0:User`.
             * @example [
             *       "urn:ietf:params:scim:schemas:core:2.0:User"
             *     ]
             */
            schemas: string[];
            /**
             * @description The id that the identity provider has for the user.
             * @example 00u1ada
             */
            externalId?: string;
            /** @description The user's email address. It cannot be changed. */
            userName?: string;
            /** @description The user's name. */
            name: {
                /** @description The given name. */
                givenName?: string;
                /** @description The family name. */
                familyName?: string;
            };
            /** @description The name to show. */
            displayName?: string;
            /** @description Whether the user may sign in; true by default. */
            active?: boolean;
            /** @description Email addresses. */
            emails?: {
                /** @description The address. */
                value?: string;
                /** @description The address to show. */
                display?: string;
                /** @description The kind of address, such as work or home. */
                type?: string;
                /** @description Whether it is the preferred one. */
                primary?: boolean;
            }[];
            /**
             * @description The user's department.
             * @enum {string}
             */
            department: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
            /** @description The user's permissions. */
            permissions: {
                /** @description The user's permissions in the company. */
                companyPermissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                /** @description Workspaces that the user may enter. */
                appGroup?: {
                    /** @description The workspace's name. */
                    appGroupName: string;
                    /** @description The user's permissions in the workspace. */
                    appGroupPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                    /** @description Teams of the workspace. */
                    team?: {
                        /** @description The team's name. */
                        teamName: string;
                        /** @description The user's permissions in the team. */
                        teamPermissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library")[];
                    }[];
                    /** @description Permission sets of the user in the workspace. */
                    appGroupPermissionSets?: {
                        /** @description The permission set's name. */
                        appGroupPermissionSetName: string;
                    }[];
                }[];
            };
        };
        /**
         * @description Changes single attributes. RFC 7644, 3.5.2.
         * @example {
         *       "schemas": [
         *         "urn:ietf:params:scim:api:messages:2.0:PatchOp"
         *       ],
         *       "Operations": [
         *         {
         *           "op": "replace",
         *           "path": "active",
         *           "value": false
         *         }
         *       ]
         *     }
         */
        ScimPatch: {
            /**
             * @description Must contain `urn:ietf:params:scim:api:messages:2.0:PatchOp`.
             * @example [
             *       "urn:ietf:params:scim:api:messages:2.0:PatchOp"
             *     ]
             */
            schemas: string[];
            /** @description The changes, in order. All apply or none. */
            Operations: components["schemas"]["ScimPatchOperation"][];
        };
        /** @description One change. */
        ScimPatchOperation: {
            /**
             * @description In any case.
             * @enum {string}
             */
            op: "add" | "replace" | "remove";
            /**
             * @description The attribute; without one `value` is an object of attributes.
             * @example name.givenName
             */
            path?: string;
            /**
             * @description The new value; not for `remove`.
             * @example Grace
             */
            value?: unknown;
        };
        /** @description Why a SCIM request was refused. RFC 7644, 3.12. */
        ScimRefusal: {
            /**
             * @description What the body is.
             * @example [
             *       "urn:ietf:params:scim:api:messages:2.0:Error"
             *     ]
             */
            schemas: string[];
            /**
             * @description The kind of fault, in the words of RFC 7644.
             * @example invalidValue
             */
            scimType?: string;
            /**
             * @description The fault, in one sentence.
             * @example User not found
             */
            detail: string;
            /**
             * @description The HTTP status.
             * @example 404
             */
            status: number;
        };
        /** @description A dashboard user. */
        ScimUser: {
            /** @description What the resource is. */
            schemas: string[];
            /** @description The id. */
            id: string;
            /** @description The id that the identity provider has for the user. */
            externalId?: string;
            /** @description About the resource. */
            meta?: {
                /** @description User. */
                resourceType?: string;
                /** @description When it was created. */
                created?: string;
                /** @description When it last changed. */
                lastModified?: string;
                /** @description Where it is. */
                location?: string;
            };
            /** @description The user's email address. It cannot be changed. */
            userName?: string;
            /** @description The user's name. */
            name?: {
                /** @description The given name. */
                givenName?: string;
                /** @description The family name. */
                familyName?: string;
            };
            /** @description The name to show. */
            displayName?: string;
            /** @description Whether the user may sign in; true by default. */
            active?: boolean;
            /** @description Email addresses. */
            emails?: {
                /** @description The address. */
                value?: string;
                /** @description The address to show. */
                display?: string;
                /** @description The kind of address, such as work or home. */
                type?: string;
                /** @description Whether it is the preferred one. */
                primary?: boolean;
            }[];
            /** @description The user's department. */
            department?: string;
            /** @description The user's permissions. */
            permissions?: {
                /** @description The user's permissions in the company. */
                companyPermissions?: string[];
                /** @description Workspaces that the user may enter. */
                appGroup?: {
                    /** @description The workspace's id. */
                    appGroupId?: string;
                    /** @description The workspace's name. */
                    appGroupName?: string;
                    /** @description The user's permissions in the workspace. */
                    appGroupPermissions?: string[];
                    /** @description Teams of the workspace. */
                    team?: {
                        /** @description The team's id. */
                        teamId?: string;
                        /** @description The team's name. */
                        teamName?: string;
                        /** @description The user's permissions in the team. */
                        teamPermissions?: string[];
                    }[];
                    /** @description Permission sets of the user in the workspace. */
                    appGroupPermissionSets?: {
                        /** @description The permission set's name. */
                        appGroupPermissionSetName?: string;
                    }[];
                }[];
            };
            /** @description The last successful sign-in, UTC. */
            lastSignInAt?: string;
        };
        /** @description Who is signed in to the dashboard. */
        Session: {
            /** @description Who is signed in. */
            person: {
                /**
                 * @description The email address; administrator for the admin token.
                 * @example ada@acme.example
                 */
                user_name: string;
                /**
                 * @description How to address the person.
                 * @example Ada Lovelace
                 */
                display_name: string;
                /** @description The dashboard user; null for the administrator. */
                id: string | null;
            };
            /** @description Whether the person may do everything. */
            administrator: boolean;
            /** @description The allowed values. */
            permissions: {
                /** @description The person's permissions in the company. */
                company: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                /** @description By the name of the workspace; admin comes with everything that it includes. */
                workspaces: {
                    [key: string]: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                };
            };
            /** @description The workspaces in which the person has any permission. */
            workspaces: string[];
            /**
             * @description For the header X-CSRF-Token of requests that change something.
             * @example Z0hKQv1cJtXo2m8v3b4w5x6y7z8A9B0C1D2E3F4G5H6
             */
            csrf_token: string;
            /**
             * @description When the session ends if it is not used any more.
             * @example 2026-01-01T13:00:00.000Z
             */
            expires_at: string;
        };
        /** @description A state of the user in a subscription group. */
        SubscriptionGroupState: {
            /**
             * @description A subscription group of the workspace.
             * @example ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20
             */
            subscription_group_id: string | number;
            /**
             * @description The state to set.
             * @enum {string}
             */
            subscription_state: "subscribed" | "unsubscribed";
            /**
             * @description Not supported: true with `subscribed` is refused, because nothing is sent.
             * @example false
             */
            use_double_opt_in_logic?: boolean;
        };
        /** @description Why a request about translations was refused. */
        TranslationRefusal: {
            /** @description What is wrong. */
            errors: {
                /**
                 * @description The fault, in one sentence.
                 * @example The provided locale code does not exist.
                 */
                message: string;
                /**
                 * @description A stable name of the rule.
                 * @example INVALID_LOCALE_ID
                 */
                code: string;
            }[];
        };
        /** @description A second name of a user, unique within its label. */
        UserAlias: {
            /**
             * @description The user's name under the label. Numbers are read as strings.
             * @example visitor-4711
             */
            alias_name: string | number;
            /**
             * @description What kind of alias it is.
             * @example web_visitor
             */
            alias_label: string;
        };
        /**
         * @description Names one user by exactly one identifier.
         * @example {
         *       "external_id": "ada"
         *     }
         */
        UserSelector: {
            /**
             * @description Your own id of the user, fewer than 988 bytes. A profile that has one is identified. Numbers are read as strings.
             * @example ada
             */
            external_id: string | number;
        } | {
            user_alias: components["schemas"]["UserAlias"];
        } | {
            /**
             * Format: email
             * @description An email address. Its case does not matter.
             * @example ada@example.com
             */
            email: string;
            prioritization: components["schemas"]["Prioritization"];
        } | {
            /**
             * @description A phone number with its country code, best in E.164.
             * @example +14155552671
             */
            phone: string;
            prioritization: components["schemas"]["Prioritization"];
        };
        /**
         * @description How the workspace behaves.
         * @example {
         *       "track_max_updates": 75,
         *       "intake": "lenient",
         *       "multi_language": true
         *     }
         */
        WorkspaceSettings: {
            /** @description How many objects a track request may hold. 50 by default. */
            track_max_updates?: number;
            /**
             * @description Whether track refuses an object with one invalid attribute or an extra address, or omits that and reports it. strict by default.
             * @enum {string}
             */
            intake?: "strict" | "lenient";
            /** @description How many bytes of JSON the custom attributes of a profile may take. 1048576 by default. */
            profile_max_bytes?: number;
            /** @description How many distinct custom attributes its users may have in total. 5000 by default. */
            max_attribute_names?: number;
            /** @description How many distinct names its events may have. 5000 by default. */
            max_event_names?: number;
            /** @description How many users it may have; 0, the default, means unlimited. */
            max_users?: number;
            /** @description Days for which events are kept after their time; 0, the default, keeps them. Their totals stay. */
            keep_events_days?: number;
            /** @description Days for which purchases are kept after their time; 0, the default, keeps them. Their totals stay. */
            keep_purchases_days?: number;
            /** @description Days for which rows that a sync did not apply are listed. 30 by default. */
            keep_row_log_days?: number;
            /** @description Days for which captured calls are kept. 7 by default. */
            keep_captured_days?: number;
            /** @description Whether every change of its users is recorded in the change feed. false by default. */
            change_feed?: boolean;
            /** @description Days for which changes are kept in the change feed. 7 by default. */
            change_retention_days?: number;
            /** @description Megabytes of changes that are kept; beyond it the oldest are deleted. 1024 by default. */
            change_max_mb?: number;
            /** @description Whether messages can be translated. false by default. */
            multi_language?: boolean;
            /** @description External ids for which nothing is recorded, such as dummy users. */
            blocked_external_ids?: string[];
            /** @description Rate limits of this workspace by permission: off, or requests per_seconds. */
            rate_limits?: {
                "users.track"?: components["schemas"]["RateLimit"];
                "users.track.bulk"?: components["schemas"]["RateLimit"];
                "users.track.sync"?: components["schemas"]["RateLimit"];
                "users.export.ids"?: components["schemas"]["RateLimit"];
                "users.export.segment"?: components["schemas"]["RateLimit"];
                "users.alias.new"?: components["schemas"]["RateLimit"];
                "users.alias.update"?: components["schemas"]["RateLimit"];
                "users.external_ids.rename"?: components["schemas"]["RateLimit"];
                "users.external_ids.remove"?: components["schemas"]["RateLimit"];
                "users.identify"?: components["schemas"]["RateLimit"];
                "users.merge"?: components["schemas"]["RateLimit"];
                "users.delete"?: components["schemas"]["RateLimit"];
                "subscription.status.set"?: components["schemas"]["RateLimit"];
                "subscription.status.get"?: components["schemas"]["RateLimit"];
                "subscription.groups.get"?: components["schemas"]["RateLimit"];
                "email.status"?: components["schemas"]["RateLimit"];
                "email.unsubscribe"?: components["schemas"]["RateLimit"];
                "email.hard_bounces"?: components["schemas"]["RateLimit"];
                "email.bounce.remove"?: components["schemas"]["RateLimit"];
                "email.blacklist"?: components["schemas"]["RateLimit"];
                "cdi.integration_list"?: components["schemas"]["RateLimit"];
                "cdi.integration_job_status"?: components["schemas"]["RateLimit"];
                "cdi.integration_sync"?: components["schemas"]["RateLimit"];
                "preference_center.update"?: components["schemas"]["RateLimit"];
                "preference_center.list"?: components["schemas"]["RateLimit"];
                "preference_center.get"?: components["schemas"]["RateLimit"];
                "preference_center.user.get"?: components["schemas"]["RateLimit"];
                "campaigns.translations.get"?: components["schemas"]["RateLimit"];
                "campaigns.translations.update"?: components["schemas"]["RateLimit"];
                "canvas.translations.get"?: components["schemas"]["RateLimit"];
                "canvas.translations.update"?: components["schemas"]["RateLimit"];
                "segments.list"?: components["schemas"]["RateLimit"];
                "segments.details"?: components["schemas"]["RateLimit"];
                "segments.data_series"?: components["schemas"]["RateLimit"];
                "events.list"?: components["schemas"]["RateLimit"];
                "events.get"?: components["schemas"]["RateLimit"];
                "custom_attributes.get"?: components["schemas"]["RateLimit"];
                "purchases.product_list"?: components["schemas"]["RateLimit"];
                "changes.get"?: components["schemas"]["RateLimit"];
            };
            /** @description Whether a merged external_id still identifies the kept profile. false by default. */
            redirect_merged_ids?: boolean;
            /**
             * @description How the default preference pages present the workspace.
             * @example {
             *       "company": "Acme",
             *       "color": "#0b6e4f",
             *       "color_dark": "#5cd6a9"
             *     }
             */
            brand?: {
                /** @description The name that readers know. */
                company?: string;
                /**
                 * @description A logo: an https address, or the image itself as a data URL.
                 * @example https://acme.example/logo.png
                 */
                logo_url?: string;
                /**
                 * @description The color of buttons and switches: #3453d1.
                 * @example #3453d1
                 */
                color?: string;
                /**
                 * @description The same for dark screens; by default the other one.
                 * @example #3453d1
                 */
                color_dark?: string;
            };
            /**
             * @description The bucket for exports of segments. Without one they are links to download.
             * @example {
             *       "connection": "exports",
             *       "url": "s3://bucket/exports/"
             *     }
             */
            export_bucket?: {
                /**
                 * @description A connection of the company of type s3 that lists this workspace.
                 * @example exports
                 */
                connection?: string;
                /**
                 * @description The folder, such as s3://bucket/exports/; it ends with a slash.
                 * @example s3://bucket/exports/
                 */
                url?: string;
            };
            /**
             * @description Hosts from which preference pages load pictures and fonts, over https, beside the host of the brand's logo; * for any. None by default: the address of a picture can tell its host what a page shows about its reader.
             * @example [
             *       "cdn.acme.example",
             *       "*.images.example"
             *     ]
             */
            page_image_hosts?: string[];
            /** @description Whether public calls that Rapport does not serve, such as messages/send, are stored and get a success. For tests. false by default. */
            capture_unsupported?: boolean;
        };
    };
    responses: never;
    parameters: {
        /**
         * @description Makes a retry safe: with the same key the request is applied once.
         * @example order-4711-attempt
         */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "0.1.0",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The version that runs.
                         * @example 0.1.0
                         */
                        version: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    checkReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    trackUsers: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Attributes of users. */
                    attributes?: components["schemas"]["AttributesObject"][];
                    /** @description Custom events of users. */
                    events?: components["schemas"]["EventObject"][];
                    /** @description Purchases of users. */
                    purchases?: components["schemas"]["PurchaseObject"][];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attributes_processed": 1,
                     *       "events_processed": 1,
                     *       "purchases_processed": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many users had attributes recorded; present where `attributes` was sent. */
                        attributes_processed?: number;
                        /** @description How many events were recorded; present where `events` was sent. */
                        events_processed?: number;
                        /** @description How many purchases were recorded; present where `purchases` was sent. */
                        purchases_processed?: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that were rejected, each with the reason. */
                        errors?: {
                            /** @description Repeats `message`. */
                            type: string;
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: {
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                    };
                };
            };
        };
    };
    trackUsersInBulk: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Attributes of users. */
                    attributes?: components["schemas"]["AttributesObject"][];
                    /** @description Custom events of users. */
                    events?: components["schemas"]["EventObject"][];
                    /** @description Purchases of users. */
                    purchases?: components["schemas"]["PurchaseObject"][];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attributes_processed": 1,
                     *       "events_processed": 1,
                     *       "purchases_processed": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many users had attributes recorded; present where `attributes` was sent. */
                        attributes_processed?: number;
                        /** @description How many events were recorded; present where `events` was sent. */
                        events_processed?: number;
                        /** @description How many purchases were recorded; present where `purchases` was sent. */
                        purchases_processed?: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that were rejected, each with the reason. */
                        errors?: {
                            /** @description Repeats `message`. */
                            type: string;
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: {
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                    };
                };
            };
        };
    };
    trackUserInSync: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Attributes of users. */
                    attributes?: components["schemas"]["AttributesObject"][];
                    /** @description Custom events of users. */
                    events?: components["schemas"]["EventObject"][];
                    /** @description Purchases of users. */
                    purchases?: components["schemas"]["PurchaseObject"][];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "external_id": "ada",
                     *           "user_alias": {
                     *             "alias_name": "visitor-4711",
                     *             "alias_label": "web_visitor"
                     *           },
                     *           "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "email": "ada@example.com",
                     *           "phone": "+14155552671",
                     *           "custom_attributes": {
                     *             "name": {}
                     *           },
                     *           "custom_events": [
                     *             {
                     *               "name": "Newsletter",
                     *               "first": "2026-01-01T12:00:00.000Z",
                     *               "last": "2026-01-01T12:00:00.000Z",
                     *               "count": 1
                     *             }
                     *           ],
                     *           "purchase_events": [
                     *             {
                     *               "product_id": "tea-kettle",
                     *               "first": "2026-01-01T12:00:00.000Z",
                     *               "last": "2026-01-01T12:00:00.000Z",
                     *               "count": 1
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Empty if no user has the identifier. */
                        users: {
                            /** @description Your own id of the user. */
                            external_id?: string;
                            /** @description An alias of the user. */
                            user_alias?: {
                                /** @description The user's name under the label. */
                                alias_name: string;
                                /** @description What kind of alias it is. */
                                alias_label: string;
                            };
                            /** @description The id that Rapport gave the profile. */
                            platform_id?: string;
                            /** @description Another spelling of `platform_id`. */
                            braze_id?: string;
                            /** @description An email address. */
                            email?: string;
                            /** @description A phone number in E.164. */
                            phone?: string;
                            /** @description Null if it is removed. */
                            custom_attributes?: {
                                [key: string]: unknown;
                            };
                            /** @description Summaries of the events that the request touched. */
                            custom_events?: {
                                /** @description The name. */
                                name: string;
                                /**
                                 * Format: date-time
                                 * @description When it happened first.
                                 */
                                first: string;
                                /**
                                 * Format: date-time
                                 * @description When it happened last.
                                 */
                                last: string;
                                /** @description How many. */
                                count: number;
                            }[];
                            /** @description Summaries of the purchases that the request touched. */
                            purchase_events?: {
                                /** @description The product. */
                                product_id: string;
                                /**
                                 * Format: date-time
                                 * @description When it happened first.
                                 */
                                first: string;
                                /**
                                 * Format: date-time
                                 * @description When it happened last.
                                 */
                                last: string;
                                /** @description How many. */
                                count: number;
                            }[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that were rejected, each with the reason. */
                        errors?: {
                            /** @description Repeats `message`. */
                            type: string;
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: {
                            /**
                             * @description The requirement of the rule.
                             * @example no user has this alias
                             */
                            message: string;
                            /**
                             * @description A stable name of the rule: see the guide on errors.
                             * @example USER_NOT_FOUND
                             */
                            code: string;
                            /**
                             * @description The list in the request with the item.
                             * @enum {string}
                             */
                            input_array: "attributes" | "events" | "purchases";
                            /**
                             * @description Counted from 0.
                             * @example 0
                             */
                            index: number;
                        }[];
                    };
                };
            };
        };
    };
    createUserAliases: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 aliases. */
                    user_aliases: components["schemas"]["NewUserAlias"][];
                    /**
                     * @description Changes nothing and returns a preview.
                     * @example false
                     */
                    dry_run?: boolean;
                    /**
                     * @description The `next_cursor` of a dry run whose results did not fit into one response.
                     * @example 12
                     */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "aliases_processed": 1,
                     *       "message": "success",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /** @description How many objects were accepted. */
                        aliases_processed: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /**
                         * @description Whether the request is only a preview.
                         * @constant
                         */
                        dry_run?: true;
                        /** @description The entries. */
                        results?: {
                            /** @description The list in the request with the item. */
                            input_array: string;
                            /** @description The item's place in its list, counted from 0. */
                            index: number;
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "added" | "created" | "renamed" | "identified" | "merged" | "deleted" | "removed" | "skipped";
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                    };
                };
            };
        };
    };
    renameUserAliases: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 renames. */
                    alias_updates: components["schemas"]["AliasUpdate"][];
                    /**
                     * @description Changes nothing and returns a preview.
                     * @example false
                     */
                    dry_run?: boolean;
                    /**
                     * @description The `next_cursor` of a dry run whose results did not fit into one response.
                     * @example 12
                     */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "aliases_processed": 1,
                     *       "message": "success",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /** @description How many objects were accepted. */
                        aliases_processed: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /**
                         * @description Whether the request is only a preview.
                         * @constant
                         */
                        dry_run?: true;
                        /** @description The entries. */
                        results?: {
                            /** @description The list in the request with the item. */
                            input_array: string;
                            /** @description The item's place in its list, counted from 0. */
                            index: number;
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "added" | "created" | "renamed" | "identified" | "merged" | "deleted" | "removed" | "skipped";
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                    };
                };
            };
        };
    };
    renameExternalIds: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 renames. */
                    external_id_renames: components["schemas"]["ExternalIdRename"][];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "external_ids": [
                     *         "ada"
                     *       ],
                     *       "rename_errors": [
                     *         {
                     *           "message": "no user has this alias",
                     *           "code": "USER_NOT_FOUND",
                     *           "input_array": "user_aliases",
                     *           "index": 0
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The new ids that took effect. */
                        external_ids: string[];
                        /** @description Why an item had no effect. */
                        rename_errors: components["schemas"]["ItemNote"][];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    removeExternalIds: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 deprecated external ids. */
                    external_ids: (string | number)[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "removed_ids": [
                     *         "ada-old"
                     *       ],
                     *       "removal_errors": [
                     *         {
                     *           "message": "no user has this alias",
                     *           "code": "USER_NOT_FOUND",
                     *           "input_array": "user_aliases",
                     *           "index": 0
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The ids that were removed. */
                        removed_ids: string[];
                        /** @description Why an item had no effect. */
                        removal_errors: components["schemas"]["ItemNote"][];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    identifyUsers: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 users, by alias. */
                    aliases_to_identify?: components["schemas"]["AliasToIdentify"][];
                    /** @description At most 50 users, by email address. */
                    emails_to_identify?: components["schemas"]["EmailToIdentify"][];
                    /** @description At most 50 users, by phone number. */
                    phone_numbers_to_identify?: components["schemas"]["PhoneToIdentify"][];
                    /**
                     * @description `merge` (the default) combines the profiles; `none` keeps only push tokens and message history.
                     * @enum {string}
                     */
                    merge_behavior?: "none" | "merge";
                    /**
                     * @description Changes nothing and returns a preview.
                     * @example false
                     */
                    dry_run?: boolean;
                    /**
                     * @description The `next_cursor` of a dry run whose results did not fit into one response.
                     * @example 12
                     */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "aliases_processed": 1,
                     *       "message": "success",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /** @description How many objects were accepted. */
                        aliases_processed: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /**
                         * @description Whether the request is only a preview.
                         * @constant
                         */
                        dry_run?: true;
                        /** @description The entries. */
                        results?: {
                            /** @description The list in the request with the item. */
                            input_array: string;
                            /** @description The item's place in its list, counted from 0. */
                            index: number;
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "added" | "created" | "renamed" | "identified" | "merged" | "deleted" | "removed" | "skipped";
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                    };
                };
            };
        };
    };
    mergeUsers: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 merges, done in order. */
                    merge_updates?: components["schemas"]["MergeUpdate"][];
                    /**
                     * @description Changes nothing and returns a preview.
                     * @example false
                     */
                    dry_run?: boolean;
                    /**
                     * @description The `next_cursor` of a dry run whose results did not fit into one response.
                     * @example 12
                     */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /**
                         * @description Whether the request is only a preview.
                         * @constant
                         */
                        dry_run?: true;
                        /** @description The entries. */
                        results?: {
                            /** @description The list in the request with the item. */
                            input_array: string;
                            /** @description The item's place in its list, counted from 0. */
                            index: number;
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "added" | "created" | "renamed" | "identified" | "merged" | "deleted" | "removed" | "skipped";
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                    };
                };
            };
        };
    };
    deleteUsers: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 50 external ids. One kind of identifier per request. */
                    external_ids?: (string | number)[];
                    /** @description At most 50 aliases. One kind of identifier per request. */
                    user_aliases?: components["schemas"]["UserAlias"][];
                    /** @description At most 50 platform ids. One kind of identifier per request. */
                    platform_ids?: string[];
                    /** @description At most 50 platform ids, in another spelling. One kind of identifier per request. */
                    braze_ids?: string[];
                    /** @description At most 50 email addresses. One kind of identifier per request. */
                    email_addresses?: components["schemas"]["EmailSelector"][];
                    /** @description At most 50 phone numbers. One kind of identifier per request. */
                    phone_numbers?: components["schemas"]["PhoneSelector"][];
                    /**
                     * @description Changes nothing and returns a preview.
                     * @example false
                     */
                    dry_run?: boolean;
                    /**
                     * @description The `next_cursor` of a dry run whose results did not fit into one response.
                     * @example 12
                     */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": 1,
                     *       "message": "success",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        /** @description How many identifiers were accepted, whether found or not. */
                        deleted: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /**
                         * @description Whether the request is only a preview.
                         * @constant
                         */
                        dry_run?: true;
                        /** @description The entries. */
                        results?: {
                            /** @description The list in the request with the item. */
                            input_array: string;
                            /** @description The item's place in its list, counted from 0. */
                            index: number;
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "added" | "created" | "renamed" | "identified" | "merged" | "deleted" | "removed" | "skipped";
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                    };
                };
            };
        };
    };
    listIdentityAudit: {
        parameters: {
            query?: {
                /**
                 * @description Users that were kept, merged or deleted.
                 * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
                 */
                platform_id?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "action": "merge",
                     *           "call": "POST /users/merge",
                     *           "key_name": "backend",
                     *           "request_id": "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60",
                     *           "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "merged_platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "effects": [
                     *             {
                     *               "field": "email",
                     *               "name": "Newsletter",
                     *               "effect": "kept"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries, newest first. */
                        entries: {
                            /** @description The id. */
                            id: string;
                            /** @description When it happened. */
                            at: string;
                            /**
                             * @description What was done.
                             * @enum {string}
                             */
                            action: "merge" | "identify" | "delete";
                            /** @description The call that did it. */
                            call: string;
                            /** @description The name of the API key; null for others. */
                            key_name: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string;
                            /** @description The id that Rapport gave the profile. */
                            platform_id: string;
                            /** @description The profile that was merged away; null for other actions. */
                            merged_platform_id: string | null;
                            /** @description The outcome for each field. */
                            effects: {
                                /** @description The field. */
                                field: string;
                                /** @description The name. */
                                name?: string;
                                /**
                                 * @description What happened to the field.
                                 * @example kept
                                 */
                                effect: string;
                            }[];
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    importUsers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "users": [
                 *         {
                 *           "external_id": "ada",
                 *           "apps": [
                 *             {
                 *               "app_id": "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
                 *               "sessions": 12,
                 *               "first_used": "2025-06-01T08:00:00Z",
                 *               "last_used": "2026-01-01T12:00:00Z"
                 *             }
                 *           ],
                 *           "messages": [
                 *             {
                 *               "message_id": "m-1",
                 *               "channel": "email",
                 *               "sent_at": "2026-01-01T12:00:00Z"
                 *             }
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Users, one object each. */
                    users: components["schemas"]["ImportedUser"][];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "imported": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many were imported. */
                        imported: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that were rejected, each with the reason. */
                        errors?: components["schemas"]["ItemNote"][];
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                    };
                };
            };
        };
    };
    getImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description Identifies the file. A client that imports it again sends the same.
                 * @example text
                 */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "users",
                     *       "rows_done": 0,
                     *       "rows_imported": 0,
                     *       "started_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "last_batch": {
                     *         "first_row": 1,
                     *         "notes": [
                     *           {
                     *             "index": 0,
                     *             "outcome": "rejected",
                     *             "code": "USER_NOT_FOUND",
                     *             "message": "success"
                     *           }
                     *         ]
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The kind of thing it is about.
                         * @enum {string}
                         */
                        kind: "users" | "events" | "purchases" | "subscriptions";
                        /** @description How many rows were checked. */
                        rows_done: number;
                        /** @description How many of them were written. */
                        rows_imported: number;
                        /**
                         * @description When the first batch was committed.
                         * @example 2026-01-01T12:00:00.000Z
                         */
                        started_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description The batch that was committed last. */
                        last_batch: {
                            /** @description The number of its first row. */
                            first_row: number;
                            /** @description The verdicts on rows that were rejected, skipped or partial. */
                            notes: {
                                /** @description The place in the batch, counted from 0. */
                                index: number;
                                /**
                                 * @description rejected: the row is invalid; skipped: it has no effect; partial: written without one value.
                                 * @enum {string}
                                 */
                                outcome: "rejected" | "skipped" | "partial";
                                /** @description A stable name of the rule. */
                                code: string;
                                /** @description `success`, or the fault. */
                                message: string;
                            }[];
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description Identifies the file. A client that imports it again sends the same.
                 * @example text
                 */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "users",
                 *       "first_row": 1,
                 *       "rows": [
                 *         {
                 *           "external_id": "ada",
                 *           "first_name": "Ada"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The kind of thing it is about.
                     * @enum {string}
                     */
                    kind: "users" | "events" | "purchases" | "subscriptions";
                    /** @description The number of the first row, from 1. */
                    first_row: number;
                    /**
                     * @description Objects of the kind; anything else is rejected and counts as a row.
                     * @example [
                     *       {
                     *         "external_id": "ada",
                     *         "first_name": "Ada"
                     *       }
                     *     ]
                     */
                    rows: unknown[];
                    /** @description Checks the rows and writes nothing. */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "imported": 1,
                     *       "notes": [
                     *         {
                     *           "index": 0,
                     *           "outcome": "rejected",
                     *           "code": "USER_NOT_FOUND",
                     *           "message": "success"
                     *         }
                     *       ],
                     *       "repeated": true,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many were imported. */
                        imported: number;
                        /** @description The verdicts on rows that were rejected, skipped or partial. */
                        notes: {
                            /** @description The place in the batch, counted from 0. */
                            index: number;
                            /**
                             * @description rejected: the row is invalid; skipped: it has no effect; partial: written without one value.
                             * @enum {string}
                             */
                            outcome: "rejected" | "skipped" | "partial";
                            /** @description A stable name of the rule. */
                            code: string;
                            /** @description `success`, or the fault. */
                            message: string;
                        }[];
                        /** @description Whether the batch was already committed. */
                        repeated: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description Identifies the file. A client that imports it again sends the same.
                 * @example text
                 */
                import_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description External ids of users. */
                    external_ids?: (string | number)[] | (string | number);
                    /** @description Aliases of users. */
                    user_aliases?: {
                        /** @description The user's name under the label. */
                        alias_name: string;
                        /** @description What kind of alias it is. */
                        alias_label: string;
                    }[];
                    /** @description Ids that Rapport gave profiles. */
                    platform_ids?: (string | number)[] | (string | number);
                    /** @description Another spelling of `platform_ids`. */
                    braze_ids?: (string | number)[] | (string | number);
                    /** @description The id that Rapport gave the profile. */
                    platform_id?: (string | number)[] | (string | number);
                    /** @description Another spelling of `platform_id`. */
                    braze_id?: (string | number)[] | (string | number);
                    /** @description An email address; profiles that have it are exported. */
                    email_address?: string;
                    /** @description A phone number in E.164. */
                    phone?: string;
                    /** @description Which fields to return. By default, all that need no extra query. */
                    fields_to_export?: ("platform_id" | "braze_id" | "external_id" | "user_aliases" | "created_at" | "random_bucket" | "first_name" | "last_name" | "email" | "phone" | "dob" | "gender" | "home_city" | "country" | "language" | "time_zone" | "last_coordinates" | "email_subscribe" | "push_subscribe" | "image_url" | "facebook" | "twitter" | "date_of_first_session" | "date_of_last_session" | "marked_email_as_spam_at" | "email_open_tracking_disabled" | "email_click_tracking_disabled" | "push_tokens" | "custom_attributes" | "custom_events" | "purchases" | "total_revenue" | "revenue_by_currency" | "subscription_groups" | "apps" | "devices" | "campaigns_received" | "canvases_received" | "cards_clicked" | "engagement_times" | "merged_ids" | "message_history" | "recent_activity" | "attributed_campaign" | "attributed_source" | "attributed_adgroup" | "attributed_ad" | "push_opted_in_at" | "uninstalled_at")[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "external_id": "ada",
                     *           "first_name": "Ada",
                     *           "custom_attributes": {
                     *             "plan": "gold",
                     *             "logins": 1
                     *           },
                     *           "custom_events": [
                     *             {
                     *               "name": "signed_up",
                     *               "first": "2026-01-01T12:00:00.000Z",
                     *               "last": "2026-01-01T12:00:00.000Z",
                     *               "count": 1
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "invalid_user_ids": [
                     *         "unknown-user"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The users. */
                        users: components["schemas"]["ExportedUser"][];
                        /** @description Identifiers of the request that name no user. */
                        invalid_user_ids?: unknown[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    streamExport: {
        parameters: {
            query?: {
                /**
                 * @description ISO 8601; included.
                 * @example 2026-01-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description ISO 8601; not included.
                 * @example 2026-02-01T00:00:00Z
                 */
                until?: string;
                /**
                 * @description name=value of an attribute that users must have.
                 * @example [
                 *       "text"
                 *     ]
                 */
                attribute?: string[];
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The kind of thing it is about.
                 * @example users
                 */
                kind: "users" | "events" | "purchases" | "subscriptions";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {"external_id":"ada"}
                     *     {"export":{"complete":true,"rows":1}}
                     */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /**
                 * @description A prefix of an external_id, alias name, email address or phone number. Without it the list has all users.
                 * @example text
                 */
                query?: string;
                /**
                 * @description Searches only identifiers of this kind.
                 * @example external_id
                 */
                identifier?: "external_id" | "alias" | "email" | "phone";
                /**
                 * @description prefix by default; exact matches the whole identifier.
                 * @example prefix
                 */
                match?: "prefix" | "exact";
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 20
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "external_id": "ada",
                     *           "user_aliases": [
                     *             {
                     *               "alias_name": "visitor-4711",
                     *               "alias_label": "web_visitor"
                     *             }
                     *           ],
                     *           "email": "ada@example.com",
                     *           "phone": "+14155552671",
                     *           "first_name": "Ada",
                     *           "last_name": "Lovelace",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z",
                     *           "matched": {
                     *             "identifier": "platform_id",
                     *             "value": "ada@acme.example"
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description May be fewer than the limit although another page follows. */
                        users: {
                            /** @description The id that Rapport gave the profile. */
                            platform_id: string;
                            /** @description Your own id of the user. */
                            external_id: string | null;
                            /** @description Aliases of users. */
                            user_aliases: {
                                /** @description The user's name under the label. */
                                alias_name: string;
                                /** @description What kind of alias it is. */
                                alias_label: string;
                            }[];
                            /** @description An email address. */
                            email: string | null;
                            /** @description A phone number in E.164. */
                            phone: string | null;
                            /**
                             * @description The first name.
                             * @example Ada
                             */
                            first_name: string | null;
                            /**
                             * @description The last name.
                             * @example Lovelace
                             */
                            last_name: string | null;
                            /** @description When it was created. */
                            created_at: string;
                            /** @description When it last changed. */
                            updated_at: string;
                            /** @description Which identifier matched. */
                            matched: {
                                /**
                                 * @description The identifier.
                                 * @enum {string}
                                 */
                                identifier: "platform_id" | "external_id" | "alias" | "email" | "phone";
                                /** @description The value. */
                                value: string;
                            };
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The platform_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "name": {}
                     *       },
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "redirects": [
                     *         {
                     *           "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "external_id": "ada"
                     *         }
                     *       ],
                     *       "subscriptions": {
                     *         "email": {
                     *           "address": "203.0.113.7",
                     *           "state": "subscribed",
                     *           "set_at": "2026-01-01T12:00:00.000Z",
                     *           "hard_bounced_at": "2026-01-01T12:00:00.000Z"
                     *         },
                     *         "groups": [
                     *           {
                     *             "subscription_group_id": "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
                     *             "name": "Newsletter",
                     *             "channel": "email",
                     *             "address": "203.0.113.7",
                     *             "state": "subscribed",
                     *             "changed_at": "2026-01-01T12:00:00.000Z"
                     *           }
                     *         ]
                     *       },
                     *       "counts": {
                     *         "events": 1,
                     *         "purchases": 1,
                     *         "messages": 1
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The profile with the fields of an export. */
                        user: {
                            [key: string]: unknown;
                        };
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description Merged users and renamed external ids that identify this user. */
                        redirects: {
                            /** @description The id that Rapport gave the profile. */
                            platform_id: string | null;
                            /** @description Your own id of the user. */
                            external_id: string | null;
                        }[];
                        /** @description States of the user, with the time and source of each. */
                        subscriptions: {
                            /** @description An email address. */
                            email: {
                                /** @description The IP address of the caller. */
                                address: string;
                                /** @description Whether the page is served: a draft is not. */
                                state: ("subscribed" | "unsubscribed" | "opted_in") | null;
                                /** @description When the state was set; null if it never was. */
                                set_at: string | null;
                                /** @description When the address hard bounced. */
                                hard_bounced_at: string | null;
                            } | null;
                            /** @description States in subscription groups. */
                            groups: {
                                /** @description A subscription group of the workspace. */
                                subscription_group_id: string;
                                /** @description The name. */
                                name: string | null;
                                /** @description The channel. */
                                channel: string | null;
                                /** @description The IP address of the caller. */
                                address: string | null;
                                /**
                                 * @description Whether the page is served: a draft is not.
                                 * @enum {string}
                                 */
                                state: "subscribed" | "unsubscribed";
                                /** @description When it changed. */
                                changed_at: string;
                            }[];
                        };
                        /** @description How much is stored about the user. */
                        counts: {
                            /** @description How many events. */
                            events: number;
                            /** @description How many purchases. */
                            purchases: number;
                            /** @description The messages. */
                            messages: number;
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
            /** @description It moved: see `Location`. */
            301: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "merged_into": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The platform_id of the kept user. */
                        merged_into: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The platform_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *       "email_state": "erased",
                     *       "audit": {
                     *         "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *         "at": "2026-01-01T12:00:00.000Z",
                     *         "effects": [
                     *           {
                     *             "field": "email",
                     *             "name": "Newsletter",
                     *             "effect": "kept"
                     *           }
                     *         ]
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id that Rapport gave the profile. */
                        platform_id: string;
                        /**
                         * @description kept: other users have the address. none: there was no state.
                         * @enum {string}
                         */
                        email_state: "erased" | "kept" | "none";
                        /** @description The entry in the audit. */
                        audit: {
                            /** @description The id. */
                            id: string;
                            /** @description When it happened. */
                            at: string;
                            /** @description The audited part: names and counts, no values. */
                            effects: {
                                /** @description The field. */
                                field: string;
                                /** @description The name. */
                                name?: string;
                                /**
                                 * @description What happened to the field.
                                 * @example kept
                                 */
                                effect: string;
                            }[];
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    patchUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The platform_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An attributes object of /users/track without an identifier: standard and custom attributes, `subscription_groups`, `email_subscribe`. */
                    attributes: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id that Rapport gave the profile. */
                        platform_id: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getUserTimeline: {
        parameters: {
            query?: {
                /**
                 * @description The kind of thing it is about.
                 * @example [
                 *       "event"
                 *     ]
                 */
                kind?: ("event" | "purchase" | "message" | "subscription" | "identity" | "attributes")[];
                /**
                 * @description Only events with this name.
                 * @example text
                 */
                event?: string;
                /**
                 * @description ISO 8601; included.
                 * @example 2026-01-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description Only entries before this time, in ISO 8601.
                 * @example 2026-02-01T00:00:00Z
                 */
                until?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The platform_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "kind": "event",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "app_id": "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11",
                     *           "properties": {
                     *             "name": {}
                     *           }
                     *         }
                     *       ],
                     *       "attributes_since": "2026-01-31T12:00:00.000Z",
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries, newest first. */
                        entries: ({
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "event";
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The id. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description The app. */
                            app_id: string | null;
                            /** @description Properties of the event or purchase. */
                            properties: {
                                [key: string]: unknown;
                            } | null;
                        } | {
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "purchase";
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The id. */
                            id: string;
                            /** @description The product. */
                            product_id: string;
                            /** @description An ISO 4217 code. */
                            currency: string;
                            /** @description The price of one piece. */
                            price: number;
                            /** @description How many pieces. */
                            quantity: number;
                            /** @description The app. */
                            app_id: string | null;
                            /** @description Properties of the event or purchase. */
                            properties: {
                                [key: string]: unknown;
                            } | null;
                        } | {
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "message";
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The id. */
                            id: string;
                            /** @description The channel. */
                            channel: string;
                            /** @description The stored data about it. */
                            details: {
                                [key: string]: unknown;
                            };
                        } | {
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "subscription";
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The id. */
                            id: string;
                            /** @description A subscription group of the workspace. */
                            subscription_group_id: string | null;
                            /** @description An email address. */
                            email: string | null;
                            /**
                             * @description The state.
                             * @enum {string}
                             */
                            subscription_state: "subscribed" | "unsubscribed" | "opted_in";
                            /** @description The call that made the change. */
                            call: string;
                            /** @description The name of the API key; null for others. */
                            key_name: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string;
                        } | {
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "identity";
                            /** @description The id. */
                            id: string;
                            /** @description When it happened. */
                            at: string;
                            /**
                             * @description What was done.
                             * @enum {string}
                             */
                            action: "merge" | "identify" | "delete";
                            /** @description The call that did it. */
                            call: string;
                            /** @description The name of the API key; null for others. */
                            key_name: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string;
                            /** @description The id that Rapport gave the profile. */
                            platform_id: string;
                            /** @description The profile that was merged away; null for other actions. */
                            merged_platform_id: string | null;
                            /** @description The outcome for each field. */
                            effects: {
                                /** @description The field. */
                                field: string;
                                /** @description The name. */
                                name?: string;
                                /**
                                 * @description What happened to the field.
                                 * @example kept
                                 */
                                effect: string;
                            }[];
                        } | {
                            /**
                             * @description The kind of thing it is about.
                             * @constant
                             */
                            kind: "attributes";
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The id. */
                            id: string;
                            /**
                             * @description Whether the change created the user.
                             * @enum {string}
                             */
                            change: "user.created" | "user.updated";
                            /** @description The names of the fields. */
                            changed: string[];
                            /** @description Their values after the change; null where removed. */
                            values: {
                                [key: string]: unknown;
                            };
                        })[];
                        /**
                         * @description The time from which the page has every change of attributes, in ISO 8601; null if the change feed is off or has none.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        attributes_since: string | null;
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
            /** @description It moved: see `Location`. */
            301: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "merged_into": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The platform_id of the kept user. */
                        merged_into: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    mergeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The platform_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "into": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description The platform_id of the kept user.
                     */
                    into: string;
                    /** @description Changes nothing. */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "merged": true,
                     *       "effects": [
                     *         {
                     *           "field": "email",
                     *           "name": "Newsletter",
                     *           "effect": "kept",
                     *           "kept": {},
                     *           "merged": {},
                     *           "result": {}
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description false after a dry run. */
                        merged: boolean;
                        /** @description The outcome for each field. */
                        effects: {
                            /** @description The field. */
                            field: string;
                            /** @description The name. */
                            name?: string;
                            /**
                             * @description What happened to the field.
                             * @example kept
                             */
                            effect: string;
                            /** @description The user that is kept. */
                            kept: unknown;
                            /** @description The user that is merged away. */
                            merged: unknown;
                            /** @description The effects of the merge or of its preview. */
                            result: unknown;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    setSubscriptionStates: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Subscription groups. */
                    subscription_groups: {
                        /** @description A subscription group of the workspace. */
                        subscription_group_id: string | number;
                        /**
                         * @description The state.
                         * @enum {string}
                         */
                        subscription_state: "subscribed" | "unsubscribed";
                        /** @description External ids of users. */
                        external_ids?: (string | number)[];
                        /** @description Email addresses. */
                        emails?: string[];
                        /** @description Phone numbers in E.164. */
                        phones?: string[];
                        /** @description The same as a list of one. */
                        external_id?: string | number;
                        /** @description The same as a list of one. */
                        email?: string | number;
                        /** @description The same as a list of one. */
                        phone?: string | number;
                        /** @description Not supported: true with `subscribed` is refused, because nothing is sent. */
                        use_double_opt_in_logic?: boolean;
                    }[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                    };
                };
            };
        };
    };
    setSubscriptionState: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A subscription group of the workspace. */
                    subscription_group_id: string | number;
                    /**
                     * @description The state.
                     * @enum {string}
                     */
                    subscription_state: "subscribed" | "unsubscribed";
                    /** @description Your own id of the user. */
                    external_id?: (string | number) | (string | number)[];
                    /** @description An email address. */
                    email?: string | string[];
                    /** @description A phone number in E.164. */
                    phone?: string | string[];
                    /** @description Not supported: true with `subscribed` is refused, because nothing is sent. */
                    use_double_opt_in_logic?: boolean;
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                    };
                };
            };
        };
    };
    setEmailState: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description An email address. */
                    email: string | string[];
                    /**
                     * @description The state.
                     * @enum {string}
                     */
                    subscription_state: "subscribed" | "unsubscribed" | "opted_in";
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                        /** @description Items that are valid and had no effect, each with the reason. */
                        skipped?: components["schemas"]["ItemNote"][];
                    };
                };
            };
        };
    };
    getSubscriptionState: {
        parameters: {
            query: {
                /**
                 * @description A subscription group of the workspace.
                 * @example ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20
                 */
                subscription_group_id: string;
                /**
                 * @description Your own id of the user.
                 * @example [
                 *       "ada"
                 *     ]
                 */
                external_id?: string[];
                /**
                 * @description An email address.
                 * @example [
                 *       "ada@example.com"
                 *     ]
                 */
                email?: string[];
                /**
                 * @description A phone number in E.164.
                 * @example [
                 *       "+14155552671"
                 *     ]
                 */
                phone?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": {
                     *         "name": "Subscribed"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The state. */
                        status: {
                            [key: string]: "Subscribed" | "Unsubscribed" | "Unknown";
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listUserSubscriptions: {
        parameters: {
            query?: {
                /**
                 * @description Your own id of the user.
                 * @example [
                 *       "ada"
                 *     ]
                 */
                external_id?: string[];
                /**
                 * @description An email address.
                 * @example [
                 *       "ada@example.com"
                 *     ]
                 */
                email?: string[];
                /**
                 * @description A phone number in E.164.
                 * @example [
                 *       "+14155552671"
                 *     ]
                 */
                phone?: string[];
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "email": "ada@example.com",
                     *           "phone": "+14155552671",
                     *           "external_id": "ada",
                     *           "subscription_groups": [
                     *             {
                     *               "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *               "name": "Newsletter",
                     *               "channel": "email",
                     *               "status": "Subscribed"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "total_count": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The users. */
                        users: {
                            /** @description An email address. */
                            email: string | null;
                            /** @description A phone number in E.164. */
                            phone: string | null;
                            /** @description Your own id of the user. */
                            external_id: string | null;
                            /** @description Subscription groups. */
                            subscription_groups: {
                                /** @description The id. */
                                id: string;
                                /** @description The name. */
                                name: string;
                                /**
                                 * @description The channel.
                                 * @enum {string}
                                 */
                                channel: "email" | "sms" | "whatsapp";
                                /**
                                 * @description The state.
                                 * @enum {string}
                                 */
                                status: "Subscribed" | "Unsubscribed";
                            }[];
                        }[];
                        /** @description How many there are in all. */
                        total_count: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listUnsubscribes: {
        parameters: {
            query?: {
                /**
                 * @description The first day of the period, as YYYY-MM-DD. It begins at midnight UTC. Only the day of a date-time counts.
                 * @example text
                 */
                start_date?: string;
                /**
                 * @description The first day after the period, as YYYY-MM-DD: for one day, the next one; to include today, tomorrow.
                 * @example text
                 */
                end_date?: string;
                /**
                 * @description Looks up these addresses instead of a period.
                 * @example [
                 *       "ada@example.com"
                 *     ]
                 */
                email?: string[];
                /**
                 * @description 100 by default.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: number;
                /**
                 * @description The order of the times.
                 * @example desc
                 */
                sort_direction?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "emails": [
                     *         {
                     *           "email": "ada@example.com",
                     *           "unsubscribed_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "period": {
                     *         "from": "2026-01-01T00:00:00.000Z",
                     *         "until": "2026-02-01T00:00:00.000Z"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Email addresses. */
                        emails: {
                            /** @description An email address. */
                            email: string;
                            /** @description When the address unsubscribed. */
                            unsubscribed_at: string;
                        }[];
                        /** @description What the list contains; `until` is not included. Absent where addresses are looked up. */
                        period?: {
                            /**
                             * @description Included, in ISO 8601.
                             * @example 2026-01-01T00:00:00.000Z
                             */
                            from: string;
                            /**
                             * @description Not included, in ISO 8601.
                             * @example 2026-02-01T00:00:00.000Z
                             */
                            until: string;
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listHardBounces: {
        parameters: {
            query?: {
                /**
                 * @description The first day of the period, as YYYY-MM-DD. It begins at midnight UTC. Only the day of a date-time counts.
                 * @example text
                 */
                start_date?: string;
                /**
                 * @description The first day after the period, as YYYY-MM-DD: for one day, the next one; to include today, tomorrow.
                 * @example text
                 */
                end_date?: string;
                /**
                 * @description Looks up these addresses instead of a period.
                 * @example [
                 *       "ada@example.com"
                 *     ]
                 */
                email?: string[];
                /**
                 * @description 100 by default.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description How many entries to skip.
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "emails": [
                     *         {
                     *           "email": "ada@example.com",
                     *           "hard_bounced_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "period": {
                     *         "from": "2026-01-01T00:00:00.000Z",
                     *         "until": "2026-02-01T00:00:00.000Z"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Email addresses. */
                        emails: {
                            /** @description An email address. */
                            email: string;
                            /** @description When the address hard bounced. */
                            hard_bounced_at: string;
                        }[];
                        /** @description What the list contains; `until` is not included. Absent where addresses are looked up. */
                        period?: {
                            /**
                             * @description Included, in ISO 8601.
                             * @example 2026-01-01T00:00:00.000Z
                             */
                            from: string;
                            /**
                             * @description Not included, in ISO 8601.
                             * @example 2026-02-01T00:00:00.000Z
                             */
                            until: string;
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    removeHardBounces: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com"
                 *     }
                 */
                "application/json": {
                    /** @description An email address. */
                    email: string | string[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    blockEmails: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com"
                 *     }
                 */
                "application/json": {
                    /** @description An email address. */
                    email: string | string[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    blockEmailsAtEmailBlacklist: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com"
                 *     }
                 */
                "application/json": {
                    /** @description An email address. */
                    email: string | string[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSubscriptionHistory: {
        parameters: {
            query?: {
                /**
                 * @description Your own id of the user.
                 * @example ada
                 */
                external_id?: string;
                /**
                 * @description An email address.
                 * @example ada@example.com
                 */
                email?: string;
                /**
                 * @description A subscription group of the workspace.
                 * @example ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20
                 */
                subscription_group_id?: string;
                /**
                 * @description ISO 8601; included.
                 * @example 2026-01-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description ISO 8601; not included.
                 * @example 2026-02-01T00:00:00Z
                 */
                until?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "changed_at": "2026-01-01T12:00:00.000Z",
                     *           "subscription_group_id": "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
                     *           "subscription_state": "subscribed",
                     *           "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "external_id": "ada",
                     *           "email": "ada@example.com",
                     *           "call": "POST /users/merge",
                     *           "key_name": "backend",
                     *           "request_id": "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The changes, newest first. */
                        changes: {
                            /** @description The id. */
                            id: string;
                            /** @description When it changed. */
                            changed_at: string;
                            /** @description A subscription group of the workspace. */
                            subscription_group_id: string | null;
                            /**
                             * @description The state.
                             * @enum {string}
                             */
                            subscription_state: "subscribed" | "unsubscribed" | "opted_in";
                            /** @description The id that Rapport gave the profile. */
                            platform_id: string | null;
                            /** @description Your own id of the user. */
                            external_id: string | null;
                            /** @description An email address. */
                            email: string | null;
                            /** @description The call that did it. */
                            call: string;
                            /** @description The name of the API key; null for others. */
                            key_name: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    eraseEmailState: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description An email address.
                 * @example ada@example.com
                 */
                email: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "erased": true,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Whether there was a state. */
                        erased: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listJoinedSpellings: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "spellings": [
                     *         {
                     *           "email": "ada@example.com",
                     *           "spelling": "k@münchen.example",
                     *           "before": "subscribed",
                     *           "other_before": "subscribed",
                     *           "after": "subscribed"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description In the order of the addresses. */
                        spellings: {
                            /** @description The address in the form that is compared. */
                            email: string;
                            /**
                             * @description As it was stored.
                             * @example k@münchen.example
                             */
                            spelling: string;
                            /** @description The email state of this spelling; null if it had none. */
                            before: ("subscribed" | "unsubscribed" | "opted_in") | null;
                            /** @description The email state of the other spellings; null if they had none. */
                            other_before: ("subscribed" | "unsubscribed" | "opted_in") | null;
                            /** @description The email state of the address since; null if one of them had none. */
                            after: ("subscribed" | "unsubscribed" | "opted_in") | null;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listEventNames: {
        parameters: {
            query?: {
                /**
                 * @description From 0.
                 * @example 0
                 */
                page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         "signed_up"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The names. */
                        events: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /**
                 * @description From the `Link` of another page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "name": "signed_up",
                     *           "included_in_analytics_report": true,
                     *           "description": null,
                     *           "status": "Active",
                     *           "tag_names": []
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The events of the page, in alphabetical order. */
                        events: {
                            /**
                             * @description The name.
                             * @example signed_up
                             */
                            name: string;
                            /** @description Always false. */
                            included_in_analytics_report: boolean;
                            /** @description Always null: nothing describes it. */
                            description: null;
                            /**
                             * @description Always Active.
                             * @example Active
                             */
                            status: string;
                            /**
                             * @description Always empty.
                             * @example []
                             */
                            tag_names: string[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCustomAttributes: {
        parameters: {
            query?: {
                /**
                 * @description From the `Link` of another page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attributes": [
                     *         {
                     *           "name": "plan",
                     *           "data_type": "string",
                     *           "array_length": null,
                     *           "description": null,
                     *           "status": "Active",
                     *           "tag_names": []
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The attributes of the page, in alphabetical order. */
                        attributes: {
                            /**
                             * @description The name.
                             * @example plan
                             */
                            name: string;
                            /**
                             * @description The type most often sent; null if none was since types are counted.
                             * @example string
                             */
                            data_type: ("string" | "number" | "boolean" | "time" | "array" | "object" | "object_array") | null;
                            /**
                             * @description For a list, how many values it may have; otherwise null.
                             * @example null
                             */
                            array_length: number | null;
                            /** @description Always null: nothing describes it. */
                            description: null;
                            /**
                             * @description Always Active.
                             * @example Active
                             */
                            status: string;
                            /**
                             * @description Always empty.
                             * @example []
                             */
                            tag_names: string[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listProducts: {
        parameters: {
            query?: {
                /**
                 * @description From 0.
                 * @example 0
                 */
                page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "products": [
                     *         "shoes"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The ids. */
                        products: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCatalogue: {
        parameters: {
            query: {
                /**
                 * @description What to list.
                 * @example event
                 */
                kind: "event" | "attribute" | "product";
                /**
                 * @description A part of the name.
                 * @example text
                 */
                search?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description Default: 50.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "name": "plan",
                     *           "seen": 4210,
                     *           "first_seen": "2026-01-31T12:00:00.000Z",
                     *           "last_seen": "2026-01-31T12:00:00.000Z",
                     *           "types": [
                     *             {
                     *               "type": "string",
                     *               "seen": 4210
                     *             }
                     *           ],
                     *           "days": [
                     *             0,
                     *             12,
                     *             40
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description In alphabetical order. */
                        entries: {
                            /**
                             * @description The name.
                             * @example plan
                             */
                            name: string;
                            /**
                             * @description How often it was sent.
                             * @example 4210
                             */
                            seen: number;
                            /**
                             * @description The time of the first; null if nothing was sent since names are counted.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            first_seen: string | null;
                            /**
                             * @description The time of the last.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            last_seen: string | null;
                            /** @description For an attribute, the most frequent type first; otherwise empty. */
                            types: {
                                /**
                                 * @description A type of values.
                                 * @enum {string}
                                 */
                                type: "string" | "number" | "boolean" | "time" | "array" | "object" | "object_array";
                                /**
                                 * @description How often it was sent.
                                 * @example 4210
                                 */
                                seen: number;
                            }[];
                            /**
                             * @description How often it was sent on each of the last 30 days in UTC, today last.
                             * @example [
                             *       0,
                             *       12,
                             *       40
                             *     ]
                             */
                            days: number[];
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /**
                 * @description That of the page before, or `beginning`. Without it: only changes from now on.
                 * @example beginning
                 */
                cursor?: string;
                /**
                 * @description Changes at most.
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description Only these types, separated by commas.
                 * @example user.created,user.updated
                 */
                types?: string;
                /**
                 * @description Only changes of the user with this platform_id.
                 * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                 */
                user?: string;
                /**
                 * @description For how many seconds to wait if there is nothing new.
                 * @example 30
                 */
                wait_s?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "id": "019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s",
                     *           "type": "user.created",
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "user": {
                     *             "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *             "external_id": "ada",
                     *             "user_aliases": [
                     *               {
                     *                 "alias_name": "visitor-4711",
                     *                 "alias_label": "web_visitor"
                     *               }
                     *             ]
                     *           },
                     *           "changed": [
                     *             "first_name",
                     *             "custom_attributes.plan"
                     *           ],
                     *           "values": {
                     *             "first_name": "Ada",
                     *             "custom_attributes.plan": "gold"
                     *           }
                     *         }
                     *       ],
                     *       "cursor": "c1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",
                     *       "caught_up": true
                     *     }
                     */
                    "application/json": {
                        /** @description In commit order for each user. */
                        changes: components["schemas"]["Change"][];
                        /**
                         * @description Where to continue. It is opaque, and works for as long as changes are kept.
                         * @example c1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0
                         */
                        cursor: string;
                        /** @description Whether there is nothing more at present. */
                        caught_up: boolean;
                    };
                };
            };
        };
    };
    getChanges: {
        parameters: {
            query?: {
                /**
                 * @description That of the page before, or `beginning`. Without it: only changes from now on.
                 * @example beginning
                 */
                cursor?: string;
                /**
                 * @description Changes at most.
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description Only these types, separated by commas.
                 * @example user.created,user.updated
                 */
                types?: string;
                /**
                 * @description Only changes of the user with this platform_id.
                 * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                 */
                user?: string;
                /**
                 * @description For how many seconds to wait if there is nothing new.
                 * @example 30
                 */
                wait_s?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "id": "019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s",
                     *           "type": "user.created",
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "user": {
                     *             "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *             "external_id": "ada",
                     *             "user_aliases": [
                     *               {
                     *                 "alias_name": "visitor-4711",
                     *                 "alias_label": "web_visitor"
                     *               }
                     *             ]
                     *           },
                     *           "changed": [
                     *             "first_name",
                     *             "custom_attributes.plan"
                     *           ],
                     *           "values": {
                     *             "first_name": "Ada",
                     *             "custom_attributes.plan": "gold"
                     *           }
                     *         }
                     *       ],
                     *       "cursor": "c1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0",
                     *       "caught_up": true
                     *     }
                     */
                    "application/json": {
                        /** @description In commit order for each user. */
                        changes: components["schemas"]["Change"][];
                        /**
                         * @description Where to continue. It is opaque, and works for as long as changes are kept.
                         * @example c1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0
                         */
                        cursor: string;
                        /** @description Whether there is nothing more at present. */
                        caught_up: boolean;
                    };
                };
            };
        };
    };
    countSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                     * @example {
                     *       "all": [
                     *         {
                     *           "event": "signed_up"
                     *         },
                     *         {
                     *           "attribute": "country",
                     *           "equals": "DE"
                     *         }
                     *       ]
                     *     }
                     */
                    filter?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description Instead of a filter: a segment of the workspace.
                     * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                     */
                    segment_id?: string;
                    /** @description Counts all users. Default: false. */
                    exact?: boolean;
                    /** @description With `exact`: how many seconds the request counts before a job continues. Default: 5. */
                    wait_s?: number;
                    /** @description Estimates each part of the filter too. Default: false. */
                    parts?: boolean;
                    /** @description Estimates who can be reached on each channel. Default: false. */
                    reach?: boolean;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "total": 1,
                     *       "matching": 120,
                     *       "low": 1,
                     *       "high": 1,
                     *       "exact": true,
                     *       "parts": [
                     *         {
                     *           "condition": "can receive email",
                     *           "alone": {
                     *             "matching": 120,
                     *             "low": 1,
                     *             "high": 1
                     *           },
                     *           "together": {
                     *             "matching": 120,
                     *             "low": 1,
                     *             "high": 1
                     *           }
                     *         }
                     *       ],
                     *       "reach": [
                     *         {
                     *           "channel": "email",
                     *           "subscription_group_id": null,
                     *           "name": "Newsletter",
                     *           "matching": 120,
                     *           "low": 1,
                     *           "high": 1
                     *         }
                     *       ],
                     *       "counts_since": {
                     *         "events": "2026-01-01T12:00:00.000Z",
                     *         "purchases": "2026-01-01T12:00:00.000Z"
                     *       },
                     *       "description": "Users who match: did signed_up at least 1 time in the last 30 days.",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description All users of the workspace. */
                        total: number;
                        /**
                         * @description Users who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                         * @example 120
                         */
                        matching: number | null;
                        /** @description With 95 % certainty at least this many users meet it. */
                        low: number;
                        /** @description With 95 % certainty at most this many users meet it. */
                        high: number;
                        /** @description Whether all users were counted. */
                        exact: boolean;
                        /** @description With `parts`: the parts of the filter, at most 20. */
                        parts?: {
                            /**
                             * @description A part of the filter, in words.
                             * @example can receive email
                             */
                            condition: string;
                            /** @description Users who meet this part. */
                            alone: {
                                /**
                                 * @description Users who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                                 * @example 120
                                 */
                                matching: number | null;
                                /** @description With 95 % certainty at least this many users meet it. */
                                low: number;
                                /** @description With 95 % certainty at most this many users meet it. */
                                high: number;
                            };
                            /** @description Users who meet this part and the earlier ones; in `any`, one of them. */
                            together: {
                                /**
                                 * @description Users who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                                 * @example 120
                                 */
                                matching: number | null;
                                /** @description With 95 % certainty at least this many users meet it. */
                                low: number;
                                /** @description With 95 % certainty at most this many users meet it. */
                                high: number;
                            };
                        }[];
                        /** @description With `reach`: users who meet the filter and can be reached on a channel. */
                        reach?: {
                            /**
                             * @description email, push, or the channel of the subscription group.
                             * @example email
                             */
                            channel: string;
                            /**
                             * @description Null for email and push as such.
                             * @example null
                             */
                            subscription_group_id: string | null;
                            /**
                             * @description The name.
                             * @example Newsletter
                             */
                            name: string;
                            /**
                             * @description Users who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                             * @example 120
                             */
                            matching: number | null;
                            /** @description With 95 % certainty at least this many users meet it. */
                            low: number;
                            /** @description With 95 % certainty at most this many users meet it. */
                            high: number;
                        }[];
                        /** @description Present if the filter reads events or purchases that retention deletes: from when on they are kept. */
                        counts_since?: {
                            /**
                             * @description Of events.
                             * @example 2026-01-01T12:00:00.000Z
                             */
                            events?: string;
                            /**
                             * @description Of purchases.
                             * @example 2026-01-01T12:00:00.000Z
                             */
                            purchases?: string;
                        };
                        /**
                         * @description The filter as a sentence.
                         * @example Users who match: did signed_up at least 1 time in the last 30 days.
                         */
                        description: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count_id": "0199f0a0-7c11-7000-8000-00c0ffee0001",
                     *       "status": "running",
                     *       "failure": "'filter.all[0]' has 12 comparators: at most 5 are possible.",
                     *       "counted": 1,
                     *       "expected": 1,
                     *       "matching": 120,
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "finished_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The id of an exact count.
                         * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                         */
                        count_id: string;
                        /**
                         * @description The state of the count.
                         * @enum {string}
                         */
                        status: "running" | "finished" | "cancelled" | "failed";
                        /**
                         * @description Why it failed; null if it did not.
                         * @example 'filter.all[0]' has 12 comparators: at most 5 are possible.
                         */
                        failure: string | null;
                        /** @description Users counted so far. */
                        counted: number;
                        /** @description About how many users there are to count. */
                        expected: number;
                        /**
                         * @description Those of them who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                         * @example 120
                         */
                        matching: number | null;
                        /**
                         * @description When the count began.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        started_at: string;
                        /**
                         * @description When it ended; null while it runs.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        finished_at: string | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegmentCounts: {
        parameters: {
            query?: {
                /**
                 * @description Only counts of this segment.
                 * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                 */
                segment_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "counts": [
                     *         {
                     *           "count_id": "0199f0a0-7c11-7000-8000-00c0ffee0001",
                     *           "status": "running",
                     *           "failure": "'filter.all[0]' has 12 comparators: at most 5 are possible.",
                     *           "counted": 1,
                     *           "expected": 1,
                     *           "matching": 120,
                     *           "started_at": "2026-01-31T12:00:00.000Z",
                     *           "finished_at": "2026-01-31T12:00:00.000Z",
                     *           "segment_id": "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
                     *           "description": "Users who match: did signed_up at least 1 time in the last 30 days.",
                     *           "before": 0
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The newest first, at most 100. */
                        counts: {
                            /**
                             * Format: uuid
                             * @description The id of an exact count.
                             * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                             */
                            count_id: string;
                            /**
                             * @description The state of the count.
                             * @enum {string}
                             */
                            status: "running" | "finished" | "cancelled" | "failed";
                            /**
                             * @description Why it failed; null if it did not.
                             * @example 'filter.all[0]' has 12 comparators: at most 5 are possible.
                             */
                            failure: string | null;
                            /** @description Users counted so far. */
                            counted: number;
                            /** @description About how many users there are to count. */
                            expected: number;
                            /**
                             * @description Those of them who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                             * @example 120
                             */
                            matching: number | null;
                            /**
                             * @description When the count began.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            started_at: string;
                            /**
                             * @description When it ended; null while it runs.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            finished_at: string | null;
                            /**
                             * @description The segment that was counted; null for an inline filter.
                             * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                             */
                            segment_id: string | null;
                            /**
                             * @description The filter as a sentence; null if something it names no longer exists, or if it tells who users are and the caller lacks view_pii.
                             * @example Users who match: did signed_up at least 1 time in the last 30 days.
                             */
                            description: string | null;
                            /**
                             * @description How many counts run before this one; null if it has ended.
                             * @example 0
                             */
                            before: number | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSegmentCount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id of an exact count.
                 * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                 */
                count_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count_id": "0199f0a0-7c11-7000-8000-00c0ffee0001",
                     *       "status": "running",
                     *       "failure": "'filter.all[0]' has 12 comparators: at most 5 are possible.",
                     *       "counted": 1,
                     *       "expected": 1,
                     *       "matching": 120,
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "finished_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The id of an exact count.
                         * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                         */
                        count_id: string;
                        /**
                         * @description The state of the count.
                         * @enum {string}
                         */
                        status: "running" | "finished" | "cancelled" | "failed";
                        /**
                         * @description Why it failed; null if it did not.
                         * @example 'filter.all[0]' has 12 comparators: at most 5 are possible.
                         */
                        failure: string | null;
                        /** @description Users counted so far. */
                        counted: number;
                        /** @description About how many users there are to count. */
                        expected: number;
                        /**
                         * @description Those of them who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                         * @example 120
                         */
                        matching: number | null;
                        /**
                         * @description When the count began.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        started_at: string;
                        /**
                         * @description When it ended; null while it runs.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        finished_at: string | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    cancelSegmentCount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id of an exact count.
                 * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                 */
                count_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "count_id": "0199f0a0-7c11-7000-8000-00c0ffee0001",
                     *       "status": "running",
                     *       "failure": "'filter.all[0]' has 12 comparators: at most 5 are possible.",
                     *       "counted": 1,
                     *       "expected": 1,
                     *       "matching": 120,
                     *       "started_at": "2026-01-31T12:00:00.000Z",
                     *       "finished_at": "2026-01-31T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The id of an exact count.
                         * @example 0199f0a0-7c11-7000-8000-00c0ffee0001
                         */
                        count_id: string;
                        /**
                         * @description The state of the count.
                         * @enum {string}
                         */
                        status: "running" | "finished" | "cancelled" | "failed";
                        /**
                         * @description Why it failed; null if it did not.
                         * @example 'filter.all[0]' has 12 comparators: at most 5 are possible.
                         */
                        failure: string | null;
                        /** @description Users counted so far. */
                        counted: number;
                        /** @description About how many users there are to count. */
                        expected: number;
                        /**
                         * @description Those of them who meet the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                         * @example 120
                         */
                        matching: number | null;
                        /**
                         * @description When the count began.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        started_at: string;
                        /**
                         * @description When it ended; null while it runs.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        finished_at: string | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegmentUsers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                     * @example {
                     *       "all": [
                     *         {
                     *           "event": "signed_up"
                     *         },
                     *         {
                     *           "attribute": "country",
                     *           "equals": "DE"
                     *         }
                     *       ]
                     *     }
                     */
                    filter?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description Instead of a filter: a segment of the workspace.
                     * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                     */
                    segment_id?: string;
                    /** @description Default: 100. */
                    limit?: number;
                    /**
                     * @description That of the page before.
                     * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                     */
                    cursor?: string | null;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": [
                     *         {
                     *           "name": {}
                     *         }
                     *       ],
                     *       "cursor": "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description In the form of an export. May be fewer than the limit although a page follows. */
                        users: {
                            [key: string]: unknown;
                        }[];
                        /**
                         * @description For the next page; null after the last user.
                         * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                         */
                        cursor: string | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    explainSegmentMembership: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                     * @example {
                     *       "all": [
                     *         {
                     *           "event": "signed_up"
                     *         },
                     *         {
                     *           "attribute": "country",
                     *           "equals": "DE"
                     *         }
                     *       ]
                     *     }
                     */
                    filter?: {
                        [key: string]: unknown;
                    };
                    /**
                     * @description Instead of a filter: a segment of the workspace.
                     * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                     */
                    segment_id?: string;
                    /**
                     * Format: uuid
                     * @description The platform_id of the user.
                     * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                     */
                    user_id: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "is_member": true,
                     *       "conditions": [
                     *         {
                     *           "condition": "can receive email",
                     *           "holds": true
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Whether the user meets the filter. */
                        is_member: boolean;
                        /** @description Every condition of the filter, including those of its segments. */
                        conditions: {
                            /**
                             * @description One condition of the filter, in words.
                             * @example can receive email
                             */
                            condition: string;
                            /** @description Whether the user meets it. */
                            holds: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegmentSizes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "segments": [
                     *         {
                     *           "id": "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
                     *           "sizes": [
                     *             {
                     *               "time": "2026-01-31",
                     *               "size": 120
                     *             }
                     *           ],
                     *           "counted": {
                     *             "matching": 120,
                     *             "total": 1,
                     *             "at": "2026-01-31T12:00:00.000Z"
                     *           },
                     *           "fault": null
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Segments whose size is known, and those that cannot be counted. */
                        segments: {
                            /**
                             * @description The id of the segment.
                             * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                             */
                            id: string;
                            /** @description One entry a day, the oldest first; days without one are left out. */
                            sizes: {
                                /**
                                 * @description The day, in UTC.
                                 * @example 2026-01-31
                                 */
                                time: string;
                                /**
                                 * @description The estimated number of users. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                                 * @example 120
                                 */
                                size: number | null;
                            }[];
                            /** @description The last exact count; null if there was none since the filter changed. */
                            counted: {
                                /**
                                 * @description Users who met the filter. For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.
                                 * @example 120
                                 */
                                matching: number | null;
                                /** @description All users of the workspace then. */
                                total: number;
                                /**
                                 * @description When the count ended.
                                 * @example 2026-01-31T12:00:00.000Z
                                 */
                                at: string;
                            } | null;
                            /**
                             * @description Why the segment cannot be counted; null if it can.
                             * @example null
                             */
                            fault: string | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getUserCount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "users": 1250,
                     *       "exact": true,
                     *       "counted_at": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description How many users there are.
                         * @example 1250
                         */
                        users: number;
                        /** @description Whether they were counted; false for an estimate. */
                        exact: boolean;
                        /**
                         * @description When they were counted, in ISO 8601.
                         * @example 2026-01-01T12:00:00.000Z
                         */
                        counted_at: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegmentsOfUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "segments": [
                     *         {
                     *           "id": "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
                     *           "name": "Repeat buyers",
                     *           "description": "Users who match: can receive email."
                     *         }
                     *       ],
                     *       "skipped": [
                     *         {
                     *           "id": "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11",
                     *           "name": "Repeat buyers",
                     *           "reason": "'filter.all[0]' has more than 5 comparators."
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The oldest first. */
                        segments: {
                            /**
                             * @description The id of the segment.
                             * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                             */
                            id: string;
                            /**
                             * @description Its name.
                             * @example Repeat buyers
                             */
                            name: string;
                            /**
                             * @description The filter as a sentence.
                             * @example Users who match: can receive email.
                             */
                            description: string;
                        }[];
                        /** @description Segments of which nothing can be said, because their filters cannot be counted. */
                        skipped: {
                            /**
                             * @description The id of the segment.
                             * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                             */
                            id: string;
                            /**
                             * @description Its name.
                             * @example Repeat buyers
                             */
                            name: string;
                            /**
                             * @description What is wrong with its filter.
                             * @example 'filter.all[0]' has more than 5 comparators.
                             */
                            reason: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    suggestAttributeValues: {
        parameters: {
            query: {
                /**
                 * @description Which kind.
                 * @example attribute
                 */
                kind: "attribute" | "custom_attribute";
                /**
                 * @description Its name.
                 * @example text
                 */
                attribute: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "values": [
                     *         "pro",
                     *         "free"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description At most 20 texts, numbers or booleans, the most frequent first.
                         * @example [
                         *       "pro",
                         *       "free"
                         *     ]
                         */
                        values: (string | number | boolean)[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegmentSummaries: {
        parameters: {
            query?: {
                /**
                 * @description From 0.
                 * @example 0
                 */
                page?: number;
                /**
                 * @description asc, the default, has the oldest first.
                 * @example desc
                 */
                sort_direction?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "segments": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "analytics_tracking_enabled": true,
                     *           "tags": [
                     *             "loyalty"
                     *           ]
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The segments of the page. */
                        segments: {
                            /** @description The id. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description Whether its size is recorded day by day: always. */
                            analytics_tracking_enabled: boolean;
                            /** @description Words to find the segment by. */
                            tags: string[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSegmentDetails: {
        parameters: {
            query: {
                /**
                 * @description The id of a segment.
                 * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                 */
                segment_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "name": "Newsletter",
                     *       "description": "Users who match: can receive email.",
                     *       "text_description": "Everyone we can mail.",
                     *       "tags": [
                     *         "loyalty"
                     *       ],
                     *       "teams": [
                     *         "Marketing"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description The filter as a sentence.
                         * @example Users who match: can receive email.
                         */
                        description: string;
                        /**
                         * @description A name in the words of its author.
                         * @example Everyone we can mail.
                         */
                        text_description: string;
                        /** @description Words to find the segment by. */
                        tags: string[];
                        /** @description Always empty: nothing in a workspace belongs to a team. */
                        teams: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSegmentSizes: {
        parameters: {
            query: {
                /**
                 * @description The id of a segment.
                 * @example 3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11
                 */
                segment_id: string;
                /**
                 * @description Days.
                 * @example 1
                 */
                length: number;
                /**
                 * @description ISO 8601; by default now.
                 * @example text
                 */
                ending_at?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "time": "2026-01-31",
                     *           "size": 1
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description One entry a day; days without an estimate are left out. */
                        data: {
                            /**
                             * @description The day, in UTC.
                             * @example 2026-01-31
                             */
                            time: string;
                            /** @description The estimated number of users. */
                            size: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportSegment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The id of a segment. */
                    segment_id: string;
                    /** @description The fields of each user; `custom_attributes` are exported as a whole. */
                    fields_to_export: ("platform_id" | "braze_id" | "external_id" | "user_aliases" | "created_at" | "random_bucket" | "first_name" | "last_name" | "email" | "phone" | "dob" | "gender" | "home_city" | "country" | "language" | "time_zone" | "last_coordinates" | "email_subscribe" | "push_subscribe" | "image_url" | "facebook" | "twitter" | "date_of_first_session" | "date_of_last_session" | "marked_email_as_spam_at" | "email_open_tracking_disabled" | "email_click_tracking_disabled" | "push_tokens" | "custom_attributes" | "custom_events" | "purchases" | "total_revenue" | "revenue_by_currency" | "subscription_groups" | "apps" | "devices" | "campaigns_received" | "canvases_received" | "cards_clicked" | "engagement_times" | "merged_ids" | "message_history" | "recent_activity" | "attributed_campaign" | "attributed_source" | "attributed_adgroup" | "attributed_ad" | "push_opted_in_at" | "uninstalled_at")[];
                    /**
                     * @description Gets a POST with `success`, and its own `url` once the link opens or the number of `files` in the bucket.
                     * @example https://hooks.example/exports
                     */
                    callback_endpoint?: string;
                    /**
                     * @description zip, the default, has files of 5,000 users, one JSON object a line; gzip has all of them in one file.
                     * @enum {string}
                     */
                    output_format?: "zip" | "gzip";
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "object_prefix": "segment-export/3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11/2026-01-31/0199f0a0",
                     *       "url": "https://rapport.example/segment-exports/export_4fzS…",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Names the export; in a bucket, the folder of its files.
                         * @example segment-export/3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11/2026-01-31/0199f0a0
                         */
                        object_prefix: string;
                        /**
                         * @description The link. It needs no key. Absent if the files are written into a bucket.
                         * @example https://rapport.example/segment-exports/export_4fzS…
                         */
                        url?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    downloadSegmentExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the SCIM token.
                 * @example okta
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example PK */
                    "application/octet-stream": string;
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deliveries": [
                     *         {
                     *           "webhook_id": "msg_0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20",
                     *           "kind": "live",
                     *           "changes": 12,
                     *           "first_change_id": "0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z",
                     *           "attempt": 1,
                     *           "outcome": "delivered",
                     *           "status": 204,
                     *           "response": "ok",
                     *           "error": "No response within 15 seconds.",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "duration_ms": 21,
                     *           "next_attempt_at": "2026-01-31T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The newest first. */
                        deliveries: {
                            /**
                             * @description The header webhook-id: the same for all attempts of a batch.
                             * @example msg_0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20
                             */
                            webhook_id: string;
                            /**
                             * @description Why it was sent.
                             * @enum {string}
                             */
                            kind: "live" | "replay" | "dead_letter" | "test";
                            /**
                             * @description How many changes it had.
                             * @example 12
                             */
                            changes: number;
                            /**
                             * @description The id of its first change; null if it had none.
                             * @example 0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z
                             */
                            first_change_id: string | null;
                            /**
                             * @description Which attempt it was, from 1.
                             * @example 1
                             */
                            attempt: number;
                            /**
                             * @description delivered; failed: it is tried again; refused: a 4xx, so the batch is split; gone: a 410; missed: the feed kept the changes no longer.
                             * @enum {string}
                             */
                            outcome: "delivered" | "failed" | "refused" | "gone" | "missed";
                            /**
                             * @description The status of the response; null without a response.
                             * @example 204
                             */
                            status: number | null;
                            /**
                             * @description Its first 500 characters.
                             * @example ok
                             */
                            response: string | null;
                            /**
                             * @description Why there was no response.
                             * @example No response within 15 seconds.
                             */
                            error: string | null;
                            /** @description When it happened. */
                            at: string;
                            /**
                             * @description How long it took.
                             * @example 21
                             */
                            duration_ms: number;
                            /**
                             * @description When it is tried again; null if it is not.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            next_attempt_at: string | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listWebhookDeadLetters: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dead_letters": [
                     *         {
                     *           "dead_letter_id": "0199f0a1-2b3c-7d4e-8f50-617283940a1b",
                     *           "change_id": "0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z",
                     *           "type": "user.created",
                     *           "status": 422,
                     *           "at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The changes themselves stay in the feed for as long as it keeps them. */
                        dead_letters: {
                            /**
                             * @description The id of a dead letter.
                             * @example 0199f0a1-2b3c-7d4e-8f50-617283940a1b
                             */
                            dead_letter_id: string;
                            /**
                             * @description The id of the change in the feed.
                             * @example 0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z
                             */
                            change_id: string;
                            /**
                             * @description What kind it is.
                             * @enum {string}
                             */
                            type: "user.created" | "user.updated" | "user.identified" | "user.merged" | "user.deleted" | "event.logged" | "purchase.logged" | "subscription.changed" | "email_state.changed" | "sync.finished" | "export.finished";
                            /**
                             * @description The refusal.
                             * @example 422
                             */
                            status: number | null;
                            /** @description When it happened. */
                            at: string;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    discardWebhookDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
                /**
                 * @description The id of a dead letter.
                 * @example 0199f0a1-2b3c-7d4e-8f50-617283940a1b
                 */
                dead_letter_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": "delivered",
                     *       "status": 204,
                     *       "response": "ok",
                     *       "error": "No response within 15 seconds.",
                     *       "at": "2026-01-01T12:00:00.000Z",
                     *       "duration_ms": 21,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description delivered; failed: it is tried again; refused: a 4xx, so the batch is split; gone: a 410; missed: the feed kept the changes no longer.
                         * @enum {string}
                         */
                        outcome: "delivered" | "failed" | "refused" | "gone" | "missed";
                        /**
                         * @description The status of the response; null without a response.
                         * @example 204
                         */
                        status: number | null;
                        /**
                         * @description Its first 500 characters.
                         * @example ok
                         */
                        response: string | null;
                        /**
                         * @description Why there was no response.
                         * @example No response within 15 seconds.
                         */
                        error: string | null;
                        /** @description When it happened. */
                        at: string;
                        /**
                         * @description How long it took.
                         * @example 21
                         */
                        duration_ms: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description A cursor of the feed, `beginning`, or a time in ISO 8601.
                     * @example 2026-01-31T12:00:00Z
                     */
                    from?: string;
                    /**
                     * @description The id of a dead letter.
                     * @example 0199f0a1-2b3c-7d4e-8f50-617283940a1b
                     */
                    dead_letter?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attempt": {
                     *         "outcome": "delivered",
                     *         "status": 204,
                     *         "response": "ok",
                     *         "error": "No response within 15 seconds.",
                     *         "at": "2026-01-01T12:00:00.000Z",
                     *         "duration_ms": 21
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The outcome for the dead letter; null for a replay from a position. */
                        attempt: {
                            /**
                             * @description delivered; failed: it is tried again; refused: a 4xx, so the batch is split; gone: a 410; missed: the feed kept the changes no longer.
                             * @enum {string}
                             */
                            outcome: "delivered" | "failed" | "refused" | "gone" | "missed";
                            /**
                             * @description The status of the response; null without a response.
                             * @example 204
                             */
                            status: number | null;
                            /**
                             * @description Its first 500 characters.
                             * @example ok
                             */
                            response: string | null;
                            /**
                             * @description Why there was no response.
                             * @example No response within 15 seconds.
                             */
                            error: string | null;
                            /** @description When it happened. */
                            at: string;
                            /**
                             * @description How long it took.
                             * @example 21
                             */
                            duration_ms: number;
                        } | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How long the previous secret signs as well. A day by default.
                     * @default 86400
                     */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                     *       "previous_secret_until": "2026-01-31T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The secret. It is shown once.
                         * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
                         */
                        secret: string;
                        /**
                         * @description Until when the previous secret signs as well.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        previous_secret_until: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listIntegrations: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "integration_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "app_group_id": "1",
                     *           "integration_name": "CRM attributes",
                     *           "integration_type": "attributes",
                     *           "integration_status": "active",
                     *           "contact_emails": "ops@acme.example",
                     *           "last_updated_at": "2026-01-01T12:00:00.000Z",
                     *           "warehouse_type": "postgres",
                     *           "last_job_start_time": "2026-01-01T12:00:00.000Z",
                     *           "last_job_status": "success",
                     *           "next_scheduled_run": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries. */
                        results: {
                            /** @description The integration. */
                            integration_id: string;
                            /**
                             * @description The id of the workspace.
                             * @example 1
                             */
                            app_group_id: string;
                            /** @description The name of the integration. */
                            integration_name: string;
                            /** @description What it syncs: attributes, events, purchases or deletions. */
                            integration_type: string;
                            /** @description Whether it runs. */
                            integration_status: string;
                            /** @description Addresses to notify of failed syncs, separated by commas. */
                            contact_emails: string;
                            /** @description The last processed UPDATED_AT. */
                            last_updated_at: string | null;
                            /**
                             * @description The source that it reads.
                             * @example postgres
                             */
                            warehouse_type: string;
                            /** @description When the last sync began. */
                            last_job_start_time: string | null;
                            /** @description How the last sync ended. */
                            last_job_status: string | null;
                            /** @description When the next sync is due; null without a schedule. */
                            next_scheduled_run: string | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSyncs: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "job_status": "success",
                     *           "sync_start_time": "2026-01-01T12:00:00.000Z",
                     *           "sync_finish_time": "2026-01-01T12:00:00.000Z",
                     *           "last_timestamp_synced": "2026-01-01T12:00:00.000Z",
                     *           "rows_synced": 120,
                     *           "rows_failed_with_errors": 0
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries. */
                        results: {
                            /** @description The state of the sync. */
                            job_status: string;
                            /** @description When the sync began. */
                            sync_start_time: string;
                            /** @description When the sync ended; null while it runs. */
                            sync_finish_time: string | null;
                            /** @description The last processed UPDATED_AT. */
                            last_timestamp_synced: string | null;
                            /** @description Rows that were written. */
                            rows_synced: number;
                            /** @description Rows that were rejected. */
                            rows_failed_with_errors: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    startSync: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    findIntegrations: {
        parameters: {
            query?: {
                /**
                 * @description The name.
                 * @example Newsletter
                 */
                name?: string;
                /**
                 * @description The name of one; all without it.
                 * @example demo
                 */
                workspace?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "workspace": "demo",
                     *           "integration_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "integration_name": "CRM attributes",
                     *           "integration_type": "attributes",
                     *           "integration_status": "active",
                     *           "last_job_status": "success"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries. */
                        results: {
                            /** @description The name of the workspace. */
                            workspace: string;
                            /** @description The integration. */
                            integration_id: string;
                            /** @description The name of the integration. */
                            integration_name: string;
                            /** @description What it syncs: attributes, events, purchases or deletions. */
                            integration_type: string;
                            /** @description Whether it runs. */
                            integration_status: string;
                            /** @description How the last sync ended. */
                            last_job_status: string | null;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    startIntegrationRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "run_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The run. */
                        run_id: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listIntegrationRuns: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "run_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "job_status": "success",
                     *           "message": "success",
                     *           "sync_start_time": "2026-01-01T12:00:00.000Z",
                     *           "sync_finish_time": "2026-01-01T12:00:00.000Z",
                     *           "last_timestamp_synced": "2026-01-01T12:00:00.000Z",
                     *           "rows_expected": 120,
                     *           "rows_read": 120,
                     *           "rows_synced": 120,
                     *           "rows_skipped": 0,
                     *           "rows_failed_with_errors": 0,
                     *           "bytes_scanned": 10485760
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries. */
                        results: {
                            /** @description The run. */
                            run_id: string;
                            /**
                             * @description The state of the sync.
                             * @enum {string}
                             */
                            job_status: "running" | "success" | "partial" | "error" | "config_error";
                            /** @description `success`, or the fault. */
                            message: string | null;
                            /** @description When the sync began. */
                            sync_start_time: string;
                            /** @description When the sync ended; null while it runs. */
                            sync_finish_time: string | null;
                            /** @description The last processed UPDATED_AT. */
                            last_timestamp_synced: string | null;
                            /** @description Rows that the source announced; null if it does not tell. */
                            rows_expected: number | null;
                            /**
                             * @description Rows that were read.
                             * @example 120
                             */
                            rows_read: number;
                            /** @description Rows that were written. */
                            rows_synced: number;
                            /**
                             * @description Rows that had no effect.
                             * @example 0
                             */
                            rows_skipped: number;
                            /** @description Rows that were rejected. */
                            rows_failed_with_errors: number;
                            /**
                             * @description How much the warehouse says that it has scanned; null if it does not say.
                             * @example 10485760
                             */
                            bytes_scanned: number | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getIntegrationRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
                /**
                 * @description The run.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "run": {
                     *         "run_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *         "job_status": "success",
                     *         "message": "success",
                     *         "sync_start_time": "2026-01-01T12:00:00.000Z",
                     *         "sync_finish_time": "2026-01-01T12:00:00.000Z",
                     *         "last_timestamp_synced": "2026-01-01T12:00:00.000Z",
                     *         "rows_expected": 120,
                     *         "rows_read": 120,
                     *         "rows_synced": 120,
                     *         "rows_skipped": 0,
                     *         "rows_failed_with_errors": 0,
                     *         "bytes_scanned": 10485760
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The run. */
                        run: {
                            /** @description The run. */
                            run_id: string;
                            /**
                             * @description The state of the sync.
                             * @enum {string}
                             */
                            job_status: "running" | "success" | "partial" | "error" | "config_error";
                            /** @description `success`, or the fault. */
                            message: string | null;
                            /** @description When the sync began. */
                            sync_start_time: string;
                            /** @description When the sync ended; null while it runs. */
                            sync_finish_time: string | null;
                            /** @description The last processed UPDATED_AT. */
                            last_timestamp_synced: string | null;
                            /** @description Rows that the source announced; null if it does not tell. */
                            rows_expected: number | null;
                            /**
                             * @description Rows that were read.
                             * @example 120
                             */
                            rows_read: number;
                            /** @description Rows that were written. */
                            rows_synced: number;
                            /**
                             * @description Rows that had no effect.
                             * @example 0
                             */
                            rows_skipped: number;
                            /** @description Rows that were rejected. */
                            rows_failed_with_errors: number;
                            /**
                             * @description How much the warehouse says that it has scanned; null if it does not say.
                             * @example 10485760
                             */
                            bytes_scanned: number | null;
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listIntegrationRunRows: {
        parameters: {
            query?: {
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
                /**
                 * @description The run.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "outcome": "failed",
                     *           "identity": {
                     *             "EXTERNAL_ID": "ada"
                     *           },
                     *           "updated_at": "2026-01-01T12:00:00.000Z",
                     *           "field": "email",
                     *           "code": "USER_NOT_FOUND",
                     *           "message": "success"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries. */
                        results: {
                            /**
                             * @description The outcome for the item.
                             * @enum {string}
                             */
                            outcome: "failed" | "skipped" | "waiting";
                            /** @description How the row names its user. */
                            identity: {
                                [key: string]: string;
                            };
                            /** @description When it last changed. */
                            updated_at: string | null;
                            /** @description The field. */
                            field: string | null;
                            /** @description A stable name of the rule. */
                            code: string;
                            /** @description `success`, or the fault. */
                            message: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listDeclaredIntegrations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integrations": [
                     *         {
                     *           "integration_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "type": "attributes",
                     *           "status": "active",
                     *           "contact_emails": "ops@acme.example",
                     *           "schedule": "*\/15 * * * *",
                     *           "retry": {
                     *             "attempts": 3,
                     *             "delay_seconds": 60
                     *           },
                     *           "warehouse": {
                     *             "type": "attributes",
                     *             "place": "public.crm_users"
                     *           },
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The integrations. */
                        integrations: {
                            /** @description The integration. */
                            integration_id: string;
                            /** @description The name. */
                            name: string;
                            /**
                             * @description What kind it is.
                             * @enum {string}
                             */
                            type: "attributes" | "events" | "purchases" | "delete";
                            /**
                             * @description The state.
                             * @enum {string}
                             */
                            status: "active" | "paused";
                            /** @description Addresses to notify of failed syncs, separated by commas. */
                            contact_emails: string;
                            /** @description When it runs: a cron expression in UTC; null for never. */
                            schedule: string | null;
                            /** @description How a failed sync is tried again. */
                            retry: {
                                /** @description How often. */
                                attempts: number;
                                /** @description After how long. */
                                delay_seconds: number;
                            };
                            /** @description Its kind and its table or files; credentials are never shown. */
                            warehouse: {
                                /** @description What kind it is. */
                                type: string;
                                /** @description The table or the files. */
                                place: string;
                            };
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integration_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "type": "attributes",
                     *       "status": "active",
                     *       "contact_emails": "ops@acme.example",
                     *       "schedule": "*\/15 * * * *",
                     *       "retry": {
                     *         "attempts": 3,
                     *         "delay_seconds": 60
                     *       },
                     *       "warehouse": {
                     *         "type": "attributes",
                     *         "place": "public.crm_users"
                     *       },
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The integration. */
                        integration_id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "attributes" | "events" | "purchases" | "delete";
                        /**
                         * @description The state.
                         * @enum {string}
                         */
                        status: "active" | "paused";
                        /** @description Addresses to notify of failed syncs, separated by commas. */
                        contact_emails: string;
                        /** @description When it runs: a cron expression in UTC; null for never. */
                        schedule: string | null;
                        /** @description How a failed sync is tried again. */
                        retry: {
                            /** @description How often. */
                            attempts: number;
                            /** @description After how long. */
                            delay_seconds: number;
                        };
                        /** @description Its kind and its table or files; credentials are never shown. */
                        warehouse: {
                            /** @description What kind it is. */
                            type: string;
                            /** @description The table or the files. */
                            place: string;
                        };
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "type": "attributes",
                 *       "status": "active",
                 *       "contact_emails": "ops@acme.example",
                 *       "schedule": "*\/15 * * * *",
                 *       "retry": {
                 *         "attempts": 3,
                 *         "delay_seconds": 60
                 *       },
                 *       "warehouse": {
                 *         "type": "postgres",
                 *         "url": "postgres://warehouse.example/crm",
                 *         "table": "public.crm_users"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /**
                     * @description The kind of each row.
                     * @enum {string}
                     */
                    type: "attributes" | "events" | "purchases" | "delete";
                    /**
                     * @description A paused integration ignores its schedule. active by default.
                     * @enum {string}
                     */
                    status?: "active" | "paused";
                    /** @description Addresses to notify when a sync fails, separated by commas. */
                    contact_emails?: string;
                    /** @description When it is synced: five fields of cron, in UTC. */
                    schedule?: string;
                    /** @description How often a failed sync is retried. */
                    retry?: {
                        /** @description The total number of attempts. */
                        attempts?: number;
                        /** @description The delay between attempts. */
                        delay_seconds?: number;
                    };
                    /** @description The source of its rows: a connection of the company, or everything inline, with credentials from the environment. */
                    warehouse?: {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "postgres";
                        /** @description postgres://user:password@host:port/database */
                        url: string;
                        /** @description A table or view, such as public.crm_users; quoted if it needs quotes. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "redshift";
                        /** @description postgres://user:password@host:port/database */
                        url: string;
                        /** @description A table or view, such as public.crm_users; quoted if it needs quotes. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "snowflake";
                        /**
                         * @description The account identifier, such as acme-analytics.
                         * @example acme-analytics
                         */
                        account: string;
                        /**
                         * @description The user that reads.
                         * @example rapport_reader
                         */
                        user: string;
                        /** @description The private key of the user, as a PEM block. */
                        private_key: string;
                        /** @description The passphrase of the key, if it has one. */
                        private_key_passphrase?: string;
                        /**
                         * @description The warehouse that computes; by default the user's.
                         * @example loading
                         */
                        warehouse?: string;
                        /**
                         * @description The role that reads; by default the user's.
                         * @example rapport
                         */
                        role?: string;
                        /**
                         * @description An address other than the vendor's own, such as https://proxy.example:8443.
                         * @example https://proxy.example:8443
                         */
                        endpoint?: string;
                        /** @description A table or view, such as crm.public.users; quoted if it needs quotes. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "bigquery";
                        /**
                         * @description The project that is billed, such as acme-analytics.
                         * @example acme-analytics
                         */
                        project: string;
                        /** @description The key of the service account: the JSON that Google gives, as text or object. */
                        credentials: string | {
                            [key: string]: unknown;
                        };
                        /**
                         * @description An address other than the vendor's own, such as https://proxy.example:8443.
                         * @example https://proxy.example:8443
                         */
                        endpoint?: string;
                        /** @description A table or view, such as crm.users, or project.crm.users of another project. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "databricks";
                        /**
                         * @description The host of the workspace, such as dbc-a1b2c3d4-e5f6.cloud.databricks.com.
                         * @example dbc-a1b2c3d4-e5f6.cloud.databricks.com
                         */
                        host: string;
                        /**
                         * @description The HTTP path of the SQL warehouse: /sql/1.0/warehouses/a1b2c3d4e5f6.
                         * @example /sql/1.0/warehouses/a1b2c3d4e5f6
                         */
                        path: string;
                        /** @description A personal access token. */
                        token?: string;
                        /**
                         * @description The id of a service principal, instead of a token.
                         * @example 8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b
                         */
                        client_id?: string;
                        /** @description The OAuth secret that belongs to client_id. */
                        client_secret?: string;
                        /**
                         * @description An address other than the vendor's own, such as https://proxy.example:8443.
                         * @example https://proxy.example:8443
                         */
                        endpoint?: string;
                        /** @description A table or view, such as main.crm.users; with backticks if it needs them. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "mysql";
                        /** @description mysql://user:password@host:port/database */
                        url: string;
                        /**
                         * @description verified (the default): encrypted, and the certificate must be for the host. off: neither.
                         * @example verified
                         * @enum {string}
                         */
                        tls?: "verified" | "off";
                        /**
                         * @description The authority that signed the certificate, as PEM blocks, if it is not public.
                         * @example -----BEGIN CERTIFICATE-----
                         *     MIIB…
                         *     -----END CERTIFICATE-----
                         */
                        ca?: string;
                        /** @description A table or view, such as crm.users; with backticks if it needs them. */
                        table: string;
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "files";
                        /** @description A file or a folder; with a connection, below its root. */
                        url: string;
                        /**
                         * @description Needed for a folder; the ending of a file's name says it.
                         * @enum {string}
                         */
                        format?: "parquet" | "csv" | "ndjson";
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "s3";
                        /** @description The id of the access key. */
                        access_key_id: string;
                        /** @description The secret of the access key; never shown. */
                        secret_access_key: string;
                        /**
                         * @description The region of the bucket.
                         * @example eu-central-1
                         */
                        region?: string;
                        /**
                         * @description For a storage other than Amazon's, such as https://storage.example:9000.
                         * @example https://storage.example:9000
                         */
                        endpoint?: string;
                        /**
                         * @description s3://bucket/folder/users.parquet, or s3://bucket/folder/ for all files in it and below.
                         * @example s3://bucket/folder/users.parquet
                         */
                        url: string;
                        /**
                         * @description Needed for a folder; the ending of a file's name says it.
                         * @enum {string}
                         */
                        format?: "parquet" | "csv" | "ndjson";
                    } | {
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type?: "connection";
                        /** @description A connection of the company that lists this workspace. */
                        connection: string;
                        /** @description As in the warehouses that have a 'table'. */
                        table?: string;
                        /** @description As in the warehouses that have a 'url'. */
                        url?: string;
                        /** @description As in the warehouses that have a 'format'. */
                        format?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "integration_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "type": "attributes",
                     *       "status": "active",
                     *       "contact_emails": "ops@acme.example",
                     *       "schedule": "*\/15 * * * *",
                     *       "retry": {
                     *         "attempts": 3,
                     *         "delay_seconds": 60
                     *       },
                     *       "warehouse": {
                     *         "type": "attributes",
                     *         "place": "public.crm_users"
                     *       },
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The integration. */
                        integration_id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description What kind it is.
                         * @enum {string}
                         */
                        type: "attributes" | "events" | "purchases" | "delete";
                        /**
                         * @description The state.
                         * @enum {string}
                         */
                        status: "active" | "paused";
                        /** @description Addresses to notify of failed syncs, separated by commas. */
                        contact_emails: string;
                        /** @description When it runs: a cron expression in UTC; null for never. */
                        schedule: string | null;
                        /** @description How a failed sync is tried again. */
                        retry: {
                            /** @description How often. */
                            attempts: number;
                            /** @description After how long. */
                            delay_seconds: number;
                        };
                        /** @description Its kind and its table or files; credentials are never shown. */
                        warehouse: {
                            /** @description What kind it is. */
                            type: string;
                            /** @description The table or the files. */
                            place: string;
                        };
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connections": [
                     *         {
                     *           "name": "Newsletter",
                     *           "type": "attributes"
                     *         }
                     *       ],
                     *       "kinds": [
                     *         {
                     *           "type": "attributes",
                     *           "label": "PostgreSQL",
                     *           "connection": [
                     *             {
                     *               "name": "Newsletter",
                     *               "description": "A table or view, such as public.crm_users.",
                     *               "required": true,
                     *               "secret": true,
                     *               "options": [
                     *                 "parquet"
                     *               ]
                     *             }
                     *           ],
                     *           "place": [
                     *             {
                     *               "name": "Newsletter",
                     *               "description": "A table or view, such as public.crm_users.",
                     *               "required": true,
                     *               "secret": true,
                     *               "options": [
                     *                 "parquet"
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "inline": true,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The connections that list the workspace. */
                        connections: {
                            /** @description The name of the connection. */
                            name: string;
                            /** @description The kind of warehouse. */
                            type: string;
                        }[];
                        /** @description The kinds of warehouses with their settings. */
                        kinds: {
                            /** @description The value of `type`. */
                            type: string;
                            /**
                             * @description The name of the product.
                             * @example PostgreSQL
                             */
                            label: string;
                            /** @description How the warehouse is reached. */
                            connection: {
                                /** @description The name of the setting. */
                                name: string;
                                /**
                                 * @description What it holds.
                                 * @example A table or view, such as public.crm_users.
                                 */
                                description: string;
                                /** @description Whether it must be given. */
                                required: boolean;
                                /** @description Whether it is sealed, and never shown. */
                                secret: boolean;
                                /** @description Its values, if there are only some. */
                                options: string[];
                            }[];
                            /** @description What a place means there. */
                            place: {
                                /** @description The name of the setting. */
                                name: string;
                                /**
                                 * @description What it holds.
                                 * @example A table or view, such as public.crm_users.
                                 */
                                description: string;
                                /** @description Whether it must be given. */
                                required: boolean;
                                /** @description Whether it is sealed, and never shown. */
                                secret: boolean;
                                /** @description Its values, if there are only some. */
                                options: string[];
                            }[];
                        }[];
                        /** @description Whether the caller may declare a warehouse inline, without a connection. */
                        inline: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSourceKinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kinds": [
                     *         {
                     *           "type": "attributes",
                     *           "label": "PostgreSQL",
                     *           "connection": [
                     *             {
                     *               "name": "Newsletter",
                     *               "description": "A table or view, such as public.crm_users.",
                     *               "required": true,
                     *               "secret": true,
                     *               "options": [
                     *                 "parquet"
                     *               ]
                     *             }
                     *           ],
                     *           "place": [
                     *             {
                     *               "name": "Newsletter",
                     *               "description": "A table or view, such as public.crm_users.",
                     *               "required": true,
                     *               "secret": true,
                     *               "options": [
                     *                 "parquet"
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The kinds of warehouses with their settings. */
                        kinds: {
                            /** @description The value of `type`. */
                            type: string;
                            /**
                             * @description The name of the product.
                             * @example PostgreSQL
                             */
                            label: string;
                            /** @description How the warehouse is reached. */
                            connection: {
                                /** @description The name of the setting. */
                                name: string;
                                /**
                                 * @description What it holds.
                                 * @example A table or view, such as public.crm_users.
                                 */
                                description: string;
                                /** @description Whether it must be given. */
                                required: boolean;
                                /** @description Whether it is sealed, and never shown. */
                                secret: boolean;
                                /** @description Its values, if there are only some. */
                                options: string[];
                            }[];
                            /** @description What a place means there. */
                            place: {
                                /** @description The name of the setting. */
                                name: string;
                                /**
                                 * @description What it holds.
                                 * @example A table or view, such as public.crm_users.
                                 */
                                description: string;
                                /** @description Whether it must be given. */
                                required: boolean;
                                /** @description Whether it is sealed, and never shown. */
                                secret: boolean;
                                /** @description Its values, if there are only some. */
                                options: string[];
                            }[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    testIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The integration.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "problem": "The table has no column UPDATED_AT.",
                     *       "columns": [
                     *         {
                     *           "name": "Newsletter",
                     *           "read_as": "PAYLOAD"
                     *         }
                     *       ],
                     *       "from": "2026-01-31T12:00:00.123456Z",
                     *       "rows_to_read": 120,
                     *       "rows": [
                     *         {
                     *           "identity": {
                     *             "EXTERNAL_ID": "ada"
                     *           },
                     *           "updated_at": "2026-01-01T12:00:00.000Z",
                     *           "payload_bytes": 130,
                     *           "code": "USER_NOT_FOUND",
                     *           "message": "success"
                     *         }
                     *       ],
                     *       "rows_without_time": 120,
                     *       "rows_in_future": 120,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Why a sync would fail; null if it would not.
                         * @example The table has no column UPDATED_AT.
                         */
                        problem: string | null;
                        /** @description The columns of the table, 200 at most. */
                        columns: {
                            /** @description As spelled in the source. */
                            name: string;
                            /**
                             * @description The field that it is read as; null if it is ignored.
                             * @example PAYLOAD
                             */
                            read_as: string | null;
                        }[];
                        /**
                         * @description The last processed UPDATED_AT, where the next sync begins; null for the beginning.
                         * @example 2026-01-31T12:00:00.123456Z
                         */
                        from: string | null;
                        /**
                         * @description How many rows the next sync reads.
                         * @example 120
                         */
                        rows_to_read: number | null;
                        /** @description The first three rows, with why each would be rejected. */
                        rows: {
                            /** @description How the row names its user. */
                            identity: {
                                [key: string]: string;
                            };
                            /** @description When it last changed. */
                            updated_at: string;
                            /**
                             * @description The size of its payload.
                             * @example 130
                             */
                            payload_bytes: number;
                            /** @description A stable name of the rule. */
                            code: string | null;
                            /** @description `success`, or the fault. */
                            message: string | null;
                        }[];
                        /**
                         * @description Rows without a readable UPDATED_AT, which never sync.
                         * @example 120
                         */
                        rows_without_time: number | null;
                        /**
                         * @description Rows that wait, because their UPDATED_AT is in the future.
                         * @example 120
                         */
                        rows_in_future: number | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listDashboardUsers: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
                /**
                 * @description Such as userName eq "ada@acme.example".
                 * @example userName eq "ada@acme.example"
                 */
                filter?: string;
                /**
                 * @description The first result of the page, from 1.
                 * @example 1
                 */
                startIndex?: number;
                /**
                 * @description Results per page.
                 * @example 1
                 */
                count?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "totalResults": 1,
                     *       "startIndex": 1,
                     *       "itemsPerPage": 1,
                     *       "Resources": [
                     *         {
                     *           "schemas": [
                     *             "urn:ietf:params:scim:schemas:core:2.0:User"
                     *           ],
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "externalId": "00u1ada",
                     *           "meta": {
                     *             "resourceType": "User",
                     *             "created": "2026-01-01T12:00:00.000Z",
                     *             "lastModified": "2026-01-01T12:00:00.000Z",
                     *             "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *           },
                     *           "userName": "ada@acme.example",
                     *           "name": {
                     *             "givenName": "Ada",
                     *             "familyName": "Lovelace"
                     *           },
                     *           "displayName": "Ada Lovelace",
                     *           "active": true,
                     *           "emails": [
                     *             {
                     *               "value": "ada@acme.example",
                     *               "display": "ada@acme.example",
                     *               "type": "attributes",
                     *               "primary": true
                     *             }
                     *           ],
                     *           "department": "engineering",
                     *           "permissions": {
                     *             "companyPermissions": [
                     *               "manage_company_settings"
                     *             ],
                     *             "appGroup": [
                     *               {
                     *                 "appGroupId": "1",
                     *                 "appGroupName": "demo",
                     *                 "appGroupPermissions": [
                     *                   "basic_access"
                     *                 ],
                     *                 "team": [
                     *                   {
                     *                     "teamId": "1",
                     *                     "teamName": "Lifecycle",
                     *                     "teamPermissions": [
                     *                       "basic_access"
                     *                     ]
                     *                   }
                     *                 ],
                     *                 "appGroupPermissionSets": [
                     *                   {
                     *                     "appGroupPermissionSetName": "Marketers"
                     *                   }
                     *                 ]
                     *               }
                     *             ]
                     *           },
                     *           "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                        /** @description How many match in all. */
                        totalResults: number;
                        /** @description The first of the page, counted from 1. */
                        startIndex: number;
                        /** @description How many the page holds. */
                        itemsPerPage: number;
                        /** @description The page. */
                        Resources: components["schemas"]["ScimUser"][];
                    };
                };
            };
        };
    };
    createDashboardUser: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
            };
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schemas": [
                 *         "urn:ietf:params:scim:schemas:core:2.0:User"
                 *       ],
                 *       "name": {
                 *         "givenName": "Ada",
                 *         "familyName": "Lovelace"
                 *       },
                 *       "department": "engineering",
                 *       "permissions": {
                 *         "companyPermissions": [
                 *           "manage_company_settings"
                 *         ],
                 *         "appGroup": []
                 *       },
                 *       "userName": "ada@acme.example"
                 *     }
                 */
                "application/scim+json": components["schemas"]["NewScimUser"];
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "externalId": "00u1ada",
                     *       "meta": {
                     *         "resourceType": "User",
                     *         "created": "2026-01-01T12:00:00.000Z",
                     *         "lastModified": "2026-01-01T12:00:00.000Z",
                     *         "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "userName": "ada@acme.example",
                     *       "name": {
                     *         "givenName": "Ada",
                     *         "familyName": "Lovelace"
                     *       },
                     *       "displayName": "Ada Lovelace",
                     *       "active": true,
                     *       "emails": [
                     *         {
                     *           "value": "ada@acme.example",
                     *           "display": "ada@acme.example",
                     *           "type": "attributes",
                     *           "primary": true
                     *         }
                     *       ],
                     *       "department": "engineering",
                     *       "permissions": {
                     *         "companyPermissions": [
                     *           "manage_company_settings"
                     *         ],
                     *         "appGroup": [
                     *           {
                     *             "appGroupId": "1",
                     *             "appGroupName": "demo",
                     *             "appGroupPermissions": [
                     *               "basic_access"
                     *             ],
                     *             "team": [
                     *               {
                     *                 "teamId": "1",
                     *                 "teamName": "Lifecycle",
                     *                 "teamPermissions": [
                     *                   "basic_access"
                     *                 ]
                     *               }
                     *             ],
                     *             "appGroupPermissionSets": [
                     *               {
                     *                 "appGroupPermissionSetName": "Marketers"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *     }
                     */
                    "application/scim+json": components["schemas"]["ScimUser"];
                };
            };
        };
    };
    listDashboardUsersAtScimV2Users: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
                /**
                 * @description Such as userName eq "ada@acme.example".
                 * @example userName eq "ada@acme.example"
                 */
                filter?: string;
                /**
                 * @description The first result of the page, from 1.
                 * @example 1
                 */
                startIndex?: number;
                /**
                 * @description Results per page.
                 * @example 1
                 */
                count?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "totalResults": 1,
                     *       "startIndex": 1,
                     *       "itemsPerPage": 1,
                     *       "Resources": [
                     *         {
                     *           "schemas": [
                     *             "urn:ietf:params:scim:schemas:core:2.0:User"
                     *           ],
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "externalId": "00u1ada",
                     *           "meta": {
                     *             "resourceType": "User",
                     *             "created": "2026-01-01T12:00:00.000Z",
                     *             "lastModified": "2026-01-01T12:00:00.000Z",
                     *             "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *           },
                     *           "userName": "ada@acme.example",
                     *           "name": {
                     *             "givenName": "Ada",
                     *             "familyName": "Lovelace"
                     *           },
                     *           "displayName": "Ada Lovelace",
                     *           "active": true,
                     *           "emails": [
                     *             {
                     *               "value": "ada@acme.example",
                     *               "display": "ada@acme.example",
                     *               "type": "attributes",
                     *               "primary": true
                     *             }
                     *           ],
                     *           "department": "engineering",
                     *           "permissions": {
                     *             "companyPermissions": [
                     *               "manage_company_settings"
                     *             ],
                     *             "appGroup": [
                     *               {
                     *                 "appGroupId": "1",
                     *                 "appGroupName": "demo",
                     *                 "appGroupPermissions": [
                     *                   "basic_access"
                     *                 ],
                     *                 "team": [
                     *                   {
                     *                     "teamId": "1",
                     *                     "teamName": "Lifecycle",
                     *                     "teamPermissions": [
                     *                       "basic_access"
                     *                     ]
                     *                   }
                     *                 ],
                     *                 "appGroupPermissionSets": [
                     *                   {
                     *                     "appGroupPermissionSetName": "Marketers"
                     *                   }
                     *                 ]
                     *               }
                     *             ]
                     *           },
                     *           "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                        /** @description How many match in all. */
                        totalResults: number;
                        /** @description The first of the page, counted from 1. */
                        startIndex: number;
                        /** @description How many the page holds. */
                        itemsPerPage: number;
                        /** @description The page. */
                        Resources: components["schemas"]["ScimUser"][];
                    };
                };
            };
        };
    };
    createDashboardUserAtScimV2Users: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
            };
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schemas": [
                 *         "urn:ietf:params:scim:schemas:core:2.0:User"
                 *       ],
                 *       "name": {
                 *         "givenName": "Ada",
                 *         "familyName": "Lovelace"
                 *       },
                 *       "department": "engineering",
                 *       "permissions": {
                 *         "companyPermissions": [
                 *           "manage_company_settings"
                 *         ],
                 *         "appGroup": []
                 *       },
                 *       "userName": "ada@acme.example"
                 *     }
                 */
                "application/scim+json": components["schemas"]["NewScimUser"];
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "externalId": "00u1ada",
                     *       "meta": {
                     *         "resourceType": "User",
                     *         "created": "2026-01-01T12:00:00.000Z",
                     *         "lastModified": "2026-01-01T12:00:00.000Z",
                     *         "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "userName": "ada@acme.example",
                     *       "name": {
                     *         "givenName": "Ada",
                     *         "familyName": "Lovelace"
                     *       },
                     *       "displayName": "Ada Lovelace",
                     *       "active": true,
                     *       "emails": [
                     *         {
                     *           "value": "ada@acme.example",
                     *           "display": "ada@acme.example",
                     *           "type": "attributes",
                     *           "primary": true
                     *         }
                     *       ],
                     *       "department": "engineering",
                     *       "permissions": {
                     *         "companyPermissions": [
                     *           "manage_company_settings"
                     *         ],
                     *         "appGroup": [
                     *           {
                     *             "appGroupId": "1",
                     *             "appGroupName": "demo",
                     *             "appGroupPermissions": [
                     *               "basic_access"
                     *             ],
                     *             "team": [
                     *               {
                     *                 "teamId": "1",
                     *                 "teamName": "Lifecycle",
                     *                 "teamPermissions": [
                     *                   "basic_access"
                     *                 ]
                     *               }
                     *             ],
                     *             "appGroupPermissionSets": [
                     *               {
                     *                 "appGroupPermissionSetName": "Marketers"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *     }
                     */
                    "application/scim+json": components["schemas"]["ScimUser"];
                };
            };
        };
    };
    getDashboardUser: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "externalId": "00u1ada",
                     *       "meta": {
                     *         "resourceType": "User",
                     *         "created": "2026-01-01T12:00:00.000Z",
                     *         "lastModified": "2026-01-01T12:00:00.000Z",
                     *         "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "userName": "ada@acme.example",
                     *       "name": {
                     *         "givenName": "Ada",
                     *         "familyName": "Lovelace"
                     *       },
                     *       "displayName": "Ada Lovelace",
                     *       "active": true,
                     *       "emails": [
                     *         {
                     *           "value": "ada@acme.example",
                     *           "display": "ada@acme.example",
                     *           "type": "attributes",
                     *           "primary": true
                     *         }
                     *       ],
                     *       "department": "engineering",
                     *       "permissions": {
                     *         "companyPermissions": [
                     *           "manage_company_settings"
                     *         ],
                     *         "appGroup": [
                     *           {
                     *             "appGroupId": "1",
                     *             "appGroupName": "demo",
                     *             "appGroupPermissions": [
                     *               "basic_access"
                     *             ],
                     *             "team": [
                     *               {
                     *                 "teamId": "1",
                     *                 "teamName": "Lifecycle",
                     *                 "teamPermissions": [
                     *                   "basic_access"
                     *                 ]
                     *               }
                     *             ],
                     *             "appGroupPermissionSets": [
                     *               {
                     *                 "appGroupPermissionSetName": "Marketers"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *     }
                     */
                    "application/scim+json": components["schemas"]["ScimUser"];
                };
            };
        };
    };
    replaceDashboardUser: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
            };
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schemas": [
                 *         "urn:ietf:params:scim:schemas:core:2.0:User"
                 *       ],
                 *       "name": {
                 *         "givenName": "Ada",
                 *         "familyName": "Lovelace"
                 *       },
                 *       "department": "engineering",
                 *       "permissions": {
                 *         "companyPermissions": [
                 *           "manage_company_settings"
                 *         ],
                 *         "appGroup": []
                 *       }
                 *     }
                 */
                "application/scim+json": components["schemas"]["ReplacedScimUser"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "externalId": "00u1ada",
                     *       "meta": {
                     *         "resourceType": "User",
                     *         "created": "2026-01-01T12:00:00.000Z",
                     *         "lastModified": "2026-01-01T12:00:00.000Z",
                     *         "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "userName": "ada@acme.example",
                     *       "name": {
                     *         "givenName": "Ada",
                     *         "familyName": "Lovelace"
                     *       },
                     *       "displayName": "Ada Lovelace",
                     *       "active": true,
                     *       "emails": [
                     *         {
                     *           "value": "ada@acme.example",
                     *           "display": "ada@acme.example",
                     *           "type": "attributes",
                     *           "primary": true
                     *         }
                     *       ],
                     *       "department": "engineering",
                     *       "permissions": {
                     *         "companyPermissions": [
                     *           "manage_company_settings"
                     *         ],
                     *         "appGroup": [
                     *           {
                     *             "appGroupId": "1",
                     *             "appGroupName": "demo",
                     *             "appGroupPermissions": [
                     *               "basic_access"
                     *             ],
                     *             "team": [
                     *               {
                     *                 "teamId": "1",
                     *                 "teamName": "Lifecycle",
                     *                 "teamPermissions": [
                     *                   "basic_access"
                     *                 ]
                     *               }
                     *             ],
                     *             "appGroupPermissionSets": [
                     *               {
                     *                 "appGroupPermissionSetName": "Marketers"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *     }
                     */
                    "application/scim+json": components["schemas"]["ScimUser"];
                };
            };
        };
    };
    deleteDashboardUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    patchDashboardUser: {
        parameters: {
            query?: {
                /**
                 * @description The attributes to return.
                 * @example userName,active
                 */
                attributes?: string;
                /**
                 * @description The attributes to omit.
                 * @example permissions
                 */
                excludedAttributes?: string;
            };
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schemas": [
                 *         "urn:ietf:params:scim:api:messages:2.0:PatchOp"
                 *       ],
                 *       "Operations": [
                 *         {
                 *           "op": "replace",
                 *           "path": "active",
                 *           "value": false
                 *         }
                 *       ]
                 *     }
                 */
                "application/scim+json": components["schemas"]["ScimPatch"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "externalId": "00u1ada",
                     *       "meta": {
                     *         "resourceType": "User",
                     *         "created": "2026-01-01T12:00:00.000Z",
                     *         "lastModified": "2026-01-01T12:00:00.000Z",
                     *         "location": "/scim/v2/Users/3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "userName": "ada@acme.example",
                     *       "name": {
                     *         "givenName": "Ada",
                     *         "familyName": "Lovelace"
                     *       },
                     *       "displayName": "Ada Lovelace",
                     *       "active": true,
                     *       "emails": [
                     *         {
                     *           "value": "ada@acme.example",
                     *           "display": "ada@acme.example",
                     *           "type": "attributes",
                     *           "primary": true
                     *         }
                     *       ],
                     *       "department": "engineering",
                     *       "permissions": {
                     *         "companyPermissions": [
                     *           "manage_company_settings"
                     *         ],
                     *         "appGroup": [
                     *           {
                     *             "appGroupId": "1",
                     *             "appGroupName": "demo",
                     *             "appGroupPermissions": [
                     *               "basic_access"
                     *             ],
                     *             "team": [
                     *               {
                     *                 "teamId": "1",
                     *                 "teamName": "Lifecycle",
                     *                 "teamPermissions": [
                     *                   "basic_access"
                     *                 ]
                     *               }
                     *             ],
                     *             "appGroupPermissionSets": [
                     *               {
                     *                 "appGroupPermissionSetName": "Marketers"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "lastSignInAt": "Thursday, January 1, 1970 12:00:00 AM"
                     *     }
                     */
                    "application/scim+json": components["schemas"]["ScimUser"];
                };
            };
        };
    };
    getScimConfiguration: {
        parameters: {
            query?: {
                /**
                 * @description Which to list.
                 * @example userName eq "ada@acme.example"
                 */
                filter?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                    };
                };
            };
        };
    };
    listScimResourceTypes: {
        parameters: {
            query?: {
                /**
                 * @description Which to list.
                 * @example userName eq "ada@acme.example"
                 */
                filter?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "totalResults": 1,
                     *       "startIndex": 1,
                     *       "itemsPerPage": 1,
                     *       "Resources": [
                     *         {
                     *           "schemas": [
                     *             "urn:ietf:params:scim:schemas:core:2.0:User"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                        /** @description How many match in all. */
                        totalResults: number;
                        /** @description The first of the page, counted from 1. */
                        startIndex: number;
                        /** @description How many the page holds. */
                        itemsPerPage: number;
                        /** @description The page. */
                        Resources: {
                            /** @description What the resource is. */
                            schemas: string[];
                        }[];
                    };
                };
            };
        };
    };
    getScimResourceType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                    };
                };
            };
        };
    };
    listScimSchemas: {
        parameters: {
            query?: {
                /**
                 * @description Which to list.
                 * @example userName eq "ada@acme.example"
                 */
                filter?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ],
                     *       "totalResults": 1,
                     *       "startIndex": 1,
                     *       "itemsPerPage": 1,
                     *       "Resources": [
                     *         {
                     *           "schemas": [
                     *             "urn:ietf:params:scim:schemas:core:2.0:User"
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                        /** @description How many match in all. */
                        totalResults: number;
                        /** @description The first of the page, counted from 1. */
                        startIndex: number;
                        /** @description How many the page holds. */
                        itemsPerPage: number;
                        /** @description The page. */
                        Resources: {
                            /** @description What the resource is. */
                            schemas: string[];
                        }[];
                    };
                };
            };
        };
    };
    getScimSchema: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "schemas": [
                     *         "urn:ietf:params:scim:schemas:core:2.0:User"
                     *       ]
                     *     }
                     */
                    "application/scim+json": {
                        /** @description What the resource is. */
                        schemas: string[];
                    };
                };
            };
        };
    };
    findDashboardUsers: {
        parameters: {
            query?: {
                /**
                 * @description A part of the user name or of the name; upper and lower case are the same.
                 * @example text
                 */
                query?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example text
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "people": [
                     *         {
                     *           "id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *           "user_name": "ada@acme.example",
                     *           "given_name": "Ada",
                     *           "family_name": "Lovelace",
                     *           "display_name": "Ada Lovelace",
                     *           "active": true,
                     *           "permissions": {
                     *             "companyPermissions": [],
                     *             "appGroup": [
                     *               {
                     *                 "appGroupName": "demo"
                     *               }
                     *             ]
                     *           },
                     *           "department": "engineering",
                     *           "from_scim": true,
                     *           "last_sign_in_at": "2026-01-01T12:00:00.000Z",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The dashboard users of the page. */
                        people: components["schemas"]["DashboardUser"][];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    addDashboardUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user_name": "grace@acme.example",
                 *       "given_name": "Ada",
                 *       "family_name": "Lovelace",
                 *       "display_name": "Ada Lovelace",
                 *       "active": true,
                 *       "permissions": {
                 *         "companyPermissions": [],
                 *         "appGroup": [
                 *           {
                 *             "appGroupName": "demo"
                 *           }
                 *         ]
                 *       },
                 *       "department": "engineering"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The email address that the identity provider sends. It cannot change.
                     * @example grace@acme.example
                     */
                    user_name: string;
                    /**
                     * @description The given name. Empty if there is none.
                     * @example Ada
                     */
                    given_name: string;
                    /**
                     * @description The family name. Empty if there is none.
                     * @example Lovelace
                     */
                    family_name: string;
                    /**
                     * @description The name to show; null for given and family name.
                     * @example Ada Lovelace
                     */
                    display_name?: string | null;
                    /** @description Whether the user may sign in. */
                    active?: boolean;
                    permissions?: components["schemas"]["DashboardPermissions"];
                    /**
                     * @description The department.
                     * @enum {string}
                     */
                    department?: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person": {
                     *         "id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *         "user_name": "ada@acme.example",
                     *         "given_name": "Ada",
                     *         "family_name": "Lovelace",
                     *         "display_name": "Ada Lovelace",
                     *         "active": true,
                     *         "permissions": {
                     *           "companyPermissions": [],
                     *           "appGroup": [
                     *             {
                     *               "appGroupName": "demo"
                     *             }
                     *           ]
                     *         },
                     *         "department": "engineering",
                     *         "from_scim": true,
                     *         "last_sign_in_at": "2026-01-01T12:00:00.000Z",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        person: components["schemas"]["DashboardUser"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    readDashboardUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dashboard user.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person": {
                     *         "id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *         "user_name": "ada@acme.example",
                     *         "given_name": "Ada",
                     *         "family_name": "Lovelace",
                     *         "display_name": "Ada Lovelace",
                     *         "active": true,
                     *         "permissions": {
                     *           "companyPermissions": [],
                     *           "appGroup": [
                     *             {
                     *               "appGroupName": "demo"
                     *             }
                     *           ]
                     *         },
                     *         "department": "engineering",
                     *         "from_scim": true,
                     *         "last_sign_in_at": "2026-01-01T12:00:00.000Z",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        person: components["schemas"]["DashboardUser"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    removeDashboardUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dashboard user.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    changeDashboardUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dashboard user.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "given_name": "Ada",
                 *       "family_name": "Lovelace",
                 *       "display_name": "Ada Lovelace",
                 *       "active": true,
                 *       "permissions": {
                 *         "companyPermissions": [],
                 *         "appGroup": [
                 *           {
                 *             "appGroupName": "demo"
                 *           }
                 *         ]
                 *       },
                 *       "department": "engineering"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The given name. Empty if there is none.
                     * @example Ada
                     */
                    given_name?: string;
                    /**
                     * @description The family name. Empty if there is none.
                     * @example Lovelace
                     */
                    family_name?: string;
                    /**
                     * @description The name to show; null for given and family name.
                     * @example Ada Lovelace
                     */
                    display_name?: string | null;
                    /** @description Whether the user may sign in. */
                    active?: boolean;
                    permissions?: components["schemas"]["DashboardPermissions"];
                    /**
                     * @description The department.
                     * @enum {string}
                     */
                    department?: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person": {
                     *         "id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *         "user_name": "ada@acme.example",
                     *         "given_name": "Ada",
                     *         "family_name": "Lovelace",
                     *         "display_name": "Ada Lovelace",
                     *         "active": true,
                     *         "permissions": {
                     *           "companyPermissions": [],
                     *           "appGroup": [
                     *             {
                     *               "appGroupName": "demo"
                     *             }
                     *           ]
                     *         },
                     *         "department": "engineering",
                     *         "from_scim": true,
                     *         "last_sign_in_at": "2026-01-01T12:00:00.000Z",
                     *         "created_at": "2026-01-01T12:00:00.000Z",
                     *         "updated_at": "2026-01-01T12:00:00.000Z"
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        person: components["schemas"]["DashboardUser"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    signOutDashboardUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the dashboard user.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sessions": 2,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description How many sessions ended.
                         * @example 2
                         */
                        sessions: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listUpgradeSteps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "steps": [
                     *         {
                     *           "name": "addresses",
                     *           "finished_at": "2026-01-01T12:00:00.000Z",
                     *           "counts": {
                     *             "identifiers": 120,
                     *             "identifiers_joined": 3
                     *           }
                     *         }
                     *       ],
                     *       "users_apart": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "user_name": "k@xn--mnchen-3ya.example"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description What had to be done to stored rows, the latest of each name. */
                        steps: {
                            /**
                             * @description addresses, or user names (docs/decisions/addresses.md).
                             * @example addresses
                             */
                            name: string;
                            /**
                             * @description When it was done; null while it is not, and then no server serves.
                             * @example 2026-01-01T12:00:00.000Z
                             */
                            finished_at: string | null;
                            /**
                             * @description Rows by what was done with them.
                             * @example {
                             *       "identifiers": 120,
                             *       "identifiers_joined": 3
                             *     }
                             */
                            counts: {
                                [key: string]: number;
                            };
                        }[];
                        /** @description Dashboard users whose name is another user's in punycode: they are still two. */
                        users_apart: {
                            /** @description The dashboard user. */
                            id: string;
                            /**
                             * @description The userName, as it was written.
                             * @example k@xn--mnchen-3ya.example
                             */
                            user_name: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCampaignTranslations: {
        parameters: {
            query?: {
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                campaign_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
                /**
                 * @description A UUID of a message's locale; without it, all locales.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": [
                     *         {
                     *           "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "translation_map": {
                     *             "id_0": "Hola"
                     *           },
                     *           "locale": {
                     *             "uuid": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "Newsletter",
                     *             "country": "Mexico",
                     *             "language": "Spanish",
                     *             "locale_key": "es-MX"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description For the list of a whole canvas. */
                            step_id?: string;
                            /** @description For the list of a whole campaign or canvas. */
                            message_variation_id?: string;
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                            /** @description The locale. */
                            locale: {
                                /**
                                 * @description The id.
                                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                                 */
                                uuid: string;
                                /** @description The name. */
                                name: string;
                                /** @description The country. */
                                country: string;
                                /** @description The language. */
                                language: string;
                                /** @description The locale as a language tag. */
                                locale_key: string;
                            };
                        }[];
                    };
                };
            };
        };
    };
    setCampaignTranslation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "campaign_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "locale_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Required. A UUID. */
                    campaign_id?: string;
                    /** @description Required. A UUID. */
                    message_variation_id?: string;
                    /** @description Required. A UUID. */
                    locale_id?: string;
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCampaignTranslationsAtCampaignTranslations: {
        parameters: {
            query?: {
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                campaign_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
                /**
                 * @description A UUID of a message's locale; without it, all locales.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": [
                     *         {
                     *           "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "translation_map": {
                     *             "id_0": "Hola"
                     *           },
                     *           "locale": {
                     *             "uuid": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "Newsletter",
                     *             "country": "Mexico",
                     *             "language": "Spanish",
                     *             "locale_key": "es-MX"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description For the list of a whole canvas. */
                            step_id?: string;
                            /** @description For the list of a whole campaign or canvas. */
                            message_variation_id?: string;
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                            /** @description The locale. */
                            locale: {
                                /**
                                 * @description The id.
                                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                                 */
                                uuid: string;
                                /** @description The name. */
                                name: string;
                                /** @description The country. */
                                country: string;
                                /** @description The language. */
                                language: string;
                                /** @description The locale as a language tag. */
                                locale_key: string;
                            };
                        }[];
                    };
                };
            };
        };
    };
    setCampaignTranslationAtCampaignTranslations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "campaign_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "locale_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Required. A UUID. */
                    campaign_id?: string;
                    /** @description Required. A UUID. */
                    message_variation_id?: string;
                    /** @description Required. A UUID. */
                    locale_id?: string;
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCampaignTranslationsAtCampaignsTranslations: {
        parameters: {
            query?: {
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                campaign_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
                /**
                 * @description A UUID of a message's locale; without it, all locales.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": [
                     *         {
                     *           "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "translation_map": {
                     *             "id_0": "Hola"
                     *           },
                     *           "locale": {
                     *             "uuid": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "Newsletter",
                     *             "country": "Mexico",
                     *             "language": "Spanish",
                     *             "locale_key": "es-MX"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description For the list of a whole canvas. */
                            step_id?: string;
                            /** @description For the list of a whole campaign or canvas. */
                            message_variation_id?: string;
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                            /** @description The locale. */
                            locale: {
                                /**
                                 * @description The id.
                                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                                 */
                                uuid: string;
                                /** @description The name. */
                                name: string;
                                /** @description The country. */
                                country: string;
                                /** @description The language. */
                                language: string;
                                /** @description The locale as a language tag. */
                                locale_key: string;
                            };
                        }[];
                    };
                };
            };
        };
    };
    setCampaignTranslationAtCampaignsTranslations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "campaign_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "locale_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Required. A UUID. */
                    campaign_id?: string;
                    /** @description Required. A UUID. */
                    message_variation_id?: string;
                    /** @description Required. A UUID. */
                    locale_id?: string;
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCanvasTranslations: {
        parameters: {
            query?: {
                /**
                 * @description Required. The canvas, a UUID; also read from canvas_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                workflow_id?: string;
                /**
                 * @description The same as workflow_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                canvas_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                step_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
                /**
                 * @description A UUID of a message's locale; without it, all locales.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": [
                     *         {
                     *           "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "translation_map": {
                     *             "id_0": "Hola"
                     *           },
                     *           "locale": {
                     *             "uuid": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "Newsletter",
                     *             "country": "Mexico",
                     *             "language": "Spanish",
                     *             "locale_key": "es-MX"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description For the list of a whole canvas. */
                            step_id?: string;
                            /** @description For the list of a whole campaign or canvas. */
                            message_variation_id?: string;
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                            /** @description The locale. */
                            locale: {
                                /**
                                 * @description The id.
                                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                                 */
                                uuid: string;
                                /** @description The name. */
                                name: string;
                                /** @description The country. */
                                country: string;
                                /** @description The language. */
                                language: string;
                                /** @description The locale as a language tag. */
                                locale_key: string;
                            };
                        }[];
                    };
                };
            };
        };
    };
    setCanvasTranslation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workflow_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "locale_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Required. The canvas, a UUID; also read from canvas_id. */
                    workflow_id?: string;
                    /** @description The same as workflow_id. */
                    canvas_id?: string;
                    /** @description Required. A UUID. */
                    step_id?: string;
                    /** @description Required. A UUID. */
                    message_variation_id?: string;
                    /** @description Required. A UUID. */
                    locale_id?: string;
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCanvasTranslationsAtCanvasTranslations: {
        parameters: {
            query?: {
                /**
                 * @description Required. The canvas, a UUID; also read from canvas_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                workflow_id?: string;
                /**
                 * @description The same as workflow_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                canvas_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                step_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
                /**
                 * @description A UUID of a message's locale; without it, all locales.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": [
                     *         {
                     *           "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "translation_map": {
                     *             "id_0": "Hola"
                     *           },
                     *           "locale": {
                     *             "uuid": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "Newsletter",
                     *             "country": "Mexico",
                     *             "language": "Spanish",
                     *             "locale_key": "es-MX"
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description For the list of a whole canvas. */
                            step_id?: string;
                            /** @description For the list of a whole campaign or canvas. */
                            message_variation_id?: string;
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                            /** @description The locale. */
                            locale: {
                                /**
                                 * @description The id.
                                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                                 */
                                uuid: string;
                                /** @description The name. */
                                name: string;
                                /** @description The country. */
                                country: string;
                                /** @description The language. */
                                language: string;
                                /** @description The locale as a language tag. */
                                locale_key: string;
                            };
                        }[];
                    };
                };
            };
        };
    };
    setCanvasTranslationAtCanvasTranslations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workflow_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "message_variation_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "locale_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Required. The canvas, a UUID; also read from canvas_id. */
                    workflow_id?: string;
                    /** @description The same as workflow_id. */
                    canvas_id?: string;
                    /** @description Required. A UUID. */
                    step_id?: string;
                    /** @description Required. A UUID. */
                    message_variation_id?: string;
                    /** @description Required. A UUID. */
                    locale_id?: string;
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCampaignTranslationSource: {
        parameters: {
            query?: {
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                campaign_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": {
                     *         "translation_map": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCampaignTranslationSourceAtCampaignsTranslationsSource: {
        parameters: {
            query?: {
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                campaign_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": {
                     *         "translation_map": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCanvasTranslationSource: {
        parameters: {
            query?: {
                /**
                 * @description Required. The canvas, a UUID; also read from canvas_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                workflow_id?: string;
                /**
                 * @description The same as workflow_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                canvas_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                step_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": {
                     *         "translation_map": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCanvasTranslationSourceAtCanvasTranslationsSource: {
        parameters: {
            query?: {
                /**
                 * @description Required. The canvas, a UUID; also read from canvas_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                workflow_id?: string;
                /**
                 * @description The same as workflow_id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                canvas_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                step_id?: string;
                /**
                 * @description Required. A UUID.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                message_variation_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "translations": {
                     *         "translation_map": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The translations. */
                        translations: {
                            /** @description Strings by the id of their translation tag. */
                            translation_map: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCampaigns: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "campaigns": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "declared": false,
                     *           "messages": [
                     *             {
                     *               "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *               "channel": "email",
                     *               "multi_language": true
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The campaigns. */
                        campaigns: {
                            /** @description The id. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                            /** @description The messages. */
                            messages: {
                                /** @description The id. */
                                id: string;
                                /** @description The channel. */
                                channel: string;
                                /** @description Whether the message can be translated. */
                                multi_language: boolean;
                            }[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listCanvases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "canvases": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "declared": false,
                     *           "steps": [
                     *             {
                     *               "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *               "messages": [
                     *                 {
                     *                   "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *                   "channel": "email",
                     *                   "multi_language": true
                     *                 }
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The canvases. */
                        canvases: {
                            /** @description The id. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                            /** @description The steps, in order. */
                            steps: {
                                /** @description The id. */
                                id: string;
                                /** @description The messages. */
                                messages: {
                                    /** @description The id. */
                                    id: string;
                                    /** @description The channel. */
                                    channel: string;
                                    /** @description Whether the message can be translated. */
                                    multi_language: boolean;
                                }[];
                            }[];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter"
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putCanvas: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "step_ids": [
                 *         "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The steps, in order. */
                    step_ids: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteCanvas: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "campaign_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "step_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "channel": "email",
                     *       "multi_language": true,
                     *       "content": {
                     *         "subject": "{% translation id_0 %}Hello{% endtranslation %}"
                     *       },
                     *       "source": {
                     *         "id_0": "Hello"
                     *       },
                     *       "translations": {
                     *         "es-MX": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "declared": false,
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id. */
                        id: string;
                        /**
                         * Format: uuid
                         * @description A UUID, as requests name it.
                         */
                        campaign_id?: string;
                        /**
                         * Format: uuid
                         * @description A UUID, as requests name it.
                         */
                        canvas_id?: string;
                        /**
                         * Format: uuid
                         * @description A UUID, as requests name it.
                         */
                        step_id?: string;
                        /** @description The channel. */
                        channel: string;
                        /** @description Whether the message can be translated. */
                        multi_language: boolean;
                        /** @description Texts with translation tags, such as subject and body. */
                        content?: {
                            [key: string]: string;
                        };
                        /** @description The strings as they were written, by id. */
                        source: {
                            [key: string]: string;
                        };
                        /** @description The translations. */
                        translations: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /** @description When it last changed. */
                        updated_at: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: uuid
                     * @description A UUID, as requests name it.
                     */
                    campaign_id?: string;
                    /**
                     * Format: uuid
                     * @description A UUID, as requests name it.
                     */
                    canvas_id?: string;
                    /**
                     * Format: uuid
                     * @description A UUID, as requests name it.
                     */
                    step_id?: string;
                    /**
                     * @description email, sms or whatsapp.
                     * @enum {string}
                     */
                    channel: "email" | "sms" | "whatsapp";
                    /** @description Whether it can be translated. false by default. */
                    multi_language?: boolean;
                    /** @description Texts with translation tags, such as subject and body. */
                    content?: {
                        [key: string]: string;
                    };
                    /** @description The strings by id; not needed with a content, which contains them. */
                    source?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    setMessageTranslation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Strings by the id of their translation tag. */
                    translation_map: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteMessageTranslation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    changeMessageTranslation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "translation_map": {
                 *         "id_0": "Hola"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The changed strings by id; null removes one. */
                    translation_map: {
                        [key: string]: string | null;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    renderMessage: {
        parameters: {
            query?: {
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "locale": null,
                     *       "content": {
                     *         "subject": "{% translation id_0 %}Hello{% endtranslation %}"
                     *       },
                     *       "translation_map": {
                     *         "id_0": "Hola"
                     *       },
                     *       "untranslated": [],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The locale. */
                        locale: null | {
                            /**
                             * @description The id.
                             * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                             */
                            uuid: string;
                            /** @description The name. */
                            name: string;
                            /** @description The country. */
                            country: string;
                            /** @description The language. */
                            language: string;
                            /** @description The locale as a language tag. */
                            locale_key: string;
                        };
                        /** @description Texts with translation tags, such as subject and body. */
                        content: {
                            [key: string]: string;
                        };
                        /** @description Strings by the id of their translation tag. */
                        translation_map: {
                            [key: string]: string;
                        };
                        /** @description The ids that fall back to the source. */
                        untranslated: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportTranslationsAsCsv: {
        parameters: {
            query?: {
                /**
                 * @description Only this locale.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id,source,es-MX
                     *     id_0,Hello,Hola
                     */
                    "text/csv": string;
                };
            };
        };
    };
    importTranslationsFromCsv: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example id,source,es-MX
                 *     id_0,Hello,Hola
                 */
                "text/csv": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "imported": [
                     *         {
                     *           "locale_key": "es-MX",
                     *           "strings": 1,
                     *           "missing": [
                     *             "id_1"
                     *           ]
                     *         }
                     *       ],
                     *       "skipped_count": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many were imported. */
                        imported: {
                            /** @description The locale as a language tag. */
                            locale_key: string;
                            /** @description How many were set. */
                            strings: number;
                            /** @description Ids that are not translated yet. */
                            missing: string[];
                        }[];
                        /** @description The first 1,000. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /** @description How many there are. */
                        skipped_count?: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportTranslationsAsXliff: {
        parameters: {
            query?: {
                /**
                 * @description Only this locale.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                locale_id?: string;
                /**
                 * @description The language of the source strings, such as en; und by default.
                 * @example text
                 */
                source_language?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <?xml version="1.0" encoding="UTF-8"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">…</xliff> */
                    "application/xliff+xml": string;
                };
            };
        };
    };
    importTranslationsFromXliff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example <?xml version="1.0" encoding="UTF-8"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">…</xliff> */
                "application/xliff+xml": string;
                /** @example <?xml version="1.0" encoding="UTF-8"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">…</xliff> */
                "application/xml": string;
                /** @example <?xml version="1.0" encoding="UTF-8"?><xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">…</xliff> */
                "text/xml": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "imported": [
                     *         {
                     *           "locale_key": "es-MX",
                     *           "strings": 1,
                     *           "missing": [
                     *             "id_1"
                     *           ]
                     *         }
                     *       ],
                     *       "skipped_count": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many were imported. */
                        imported: {
                            /** @description The locale as a language tag. */
                            locale_key: string;
                            /** @description How many were set. */
                            strings: number;
                            /** @description Ids that are not translated yet. */
                            missing: string[];
                        }[];
                        /** @description The first 1,000. */
                        skipped?: components["schemas"]["ItemNote"][];
                        /** @description How many there are. */
                        skipped_count?: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listPreferenceCenters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_centers": [
                     *         {
                     *           "name": "Newsletter",
                     *           "preference_center_api_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The preference centers. */
                        preference_centers: {
                            /** @description The name. */
                            name: string;
                            /** @description The id of the preference center. */
                            preference_center_api_id: string;
                            /** @description When it was created. */
                            created_at: string;
                            /** @description When it last changed. */
                            updated_at: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getPreferenceCenter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The preference center.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                preference_center_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "preference_center_api_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "preference_center_title": "Email preferences",
                     *       "preference_center_page_html": "<form>…</form>",
                     *       "confirmation_page_html": "<p>Saved.</p>",
                     *       "redirect_page_html": null,
                     *       "preference_center_options": {
                     *         "meta-viewport-content": "width=device-width, initial-scale=1"
                     *       },
                     *       "state": "active",
                     *       "locale": "en",
                     *       "translations": {
                     *         "es-MX": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The id of the preference center. */
                        preference_center_api_id: string;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description The title of the pages. */
                        preference_center_title: string;
                        /** @description The page where users choose. */
                        preference_center_page_html: string;
                        /** @description The page after a choice. */
                        confirmation_page_html: string;
                        /** @description A URL to open instead of the confirmation page. */
                        redirect_page_html: string | null;
                        /** @description Elements for the head of the pages. */
                        preference_center_options: {
                            /** @description The content of the viewport meta tag. */
                            "meta-viewport-content": string;
                        };
                        /**
                         * @description Whether the page is served: a draft is not.
                         * @enum {string}
                         */
                        state: "active" | "draft";
                        /** @description The language that the pages are written in. */
                        locale: string;
                        /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                        translations: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    updatePreferenceCenter: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The preference center.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                preference_center_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name?: string;
                    /** @description The title of the pages. */
                    preference_center_title?: string;
                    /** @description The page where users choose. */
                    preference_center_page_html?: string;
                    /** @description The page after a choice. */
                    confirmation_page_html?: string;
                    /** @description A URL to open instead of the confirmation page. */
                    redirect_page_html?: string | null;
                    /** @description Elements for the head of the pages. */
                    options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /** @description Elements for the head of the pages. */
                    preference_center_options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /**
                     * @description Whether the page is served: a draft is not.
                     * @enum {string}
                     */
                    state?: "active" | "draft";
                    /** @description The locale. */
                    locale?: string;
                    /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                    translations?: {
                        [key: string]: {
                            [key: string]: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_center_api_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id of the preference center. */
                        preference_center_api_id: string;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description Parts of the pages that have no effect. */
                        warnings?: {
                            /**
                             * @description A stable name of the rule.
                             * @constant
                             */
                            code: "NO_EFFECT";
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The field. */
                            field: string;
                            /** @description The line. */
                            line: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    updatePreferenceCenterByPost: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The preference center.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                preference_center_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name?: string;
                    /** @description The title of the pages. */
                    preference_center_title?: string;
                    /** @description The page where users choose. */
                    preference_center_page_html?: string;
                    /** @description The page after a choice. */
                    confirmation_page_html?: string;
                    /** @description A URL to open instead of the confirmation page. */
                    redirect_page_html?: string | null;
                    /** @description Elements for the head of the pages. */
                    options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /** @description Elements for the head of the pages. */
                    preference_center_options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /**
                     * @description Whether the page is served: a draft is not.
                     * @enum {string}
                     */
                    state?: "active" | "draft";
                    /** @description The locale. */
                    locale?: string;
                    /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                    translations?: {
                        [key: string]: {
                            [key: string]: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_center_api_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id of the preference center. */
                        preference_center_api_id: string;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description Parts of the pages that have no effect. */
                        warnings?: {
                            /**
                             * @description A stable name of the rule.
                             * @constant
                             */
                            code: "NO_EFFECT";
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The field. */
                            field: string;
                            /** @description The line. */
                            line: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createPreferenceCenter: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a retry safe: with the same key the request is applied once.
                 * @example order-4711-attempt
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The title of the pages. */
                    preference_center_title?: string;
                    /** @description The page where users choose. */
                    preference_center_page_html: string;
                    /** @description The page after a choice. */
                    confirmation_page_html: string;
                    /** @description A URL to open instead of the confirmation page. */
                    redirect_page_html?: string | null;
                    /** @description Elements for the head of the pages. */
                    options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /** @description Elements for the head of the pages. */
                    preference_center_options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /**
                     * @description Whether the page is served: a draft is not.
                     * @enum {string}
                     */
                    state?: "active" | "draft";
                    /** @description The locale. */
                    locale?: string;
                    /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                    translations?: {
                        [key: string]: {
                            [key: string]: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_center_api_id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "liquid_tag": "{{preference_center.${main}}}",
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id of the preference center. */
                        preference_center_api_id: string;
                        /** @description The HTML link to the user's page, for a message. */
                        liquid_tag: string;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description Parts of the pages that have no effect. */
                        warnings?: {
                            /**
                             * @description A stable name of the rule.
                             * @constant
                             */
                            code: "NO_EFFECT";
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The field. */
                            field: string;
                            /** @description The line. */
                            line: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getPreferencePageUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The preference center.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                preference_center_id: string;
                /**
                 * @description The external_id of the user.
                 * @example ada
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_center_url": "https://rapport.example/preferences/…",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The address of the user's page. */
                        preference_center_url: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    rotatePreferencePageLinks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_days": 0
                 *     }
                 */
                "application/json": {
                    /** @description How long links signed with earlier secrets still work; 0 ends them within 30 seconds. */
                    overlap_days: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listDeclaredPreferenceCenters: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "preference_centers": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "title": "Email preferences",
                     *           "state": "active",
                     *           "declared": false,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "updated_at": "2026-01-01T12:00:00.000Z"
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The preference centers. */
                        preference_centers: {
                            /** @description The id. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description The title of the pages. */
                            title: string;
                            /**
                             * @description Whether the page is served: a draft is not.
                             * @enum {string}
                             */
                            state: "active" | "draft";
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                            /** @description When it was created. */
                            created_at: string;
                            /** @description When it last changed. */
                            updated_at: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getDeclaredPreferenceCenter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "title": "Email preferences",
                     *       "state": "active",
                     *       "declared": false,
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "page_html": "<form>…</form>",
                     *       "confirmation_html": "<p>Saved.</p>",
                     *       "redirect_url": null,
                     *       "options": {
                     *         "meta-viewport-content": "width=device-width, initial-scale=1"
                     *       },
                     *       "locale": "en",
                     *       "translations": {
                     *         "es-MX": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description The title of the pages. */
                        title: string;
                        /**
                         * @description Whether the page is served: a draft is not.
                         * @enum {string}
                         */
                        state: "active" | "draft";
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description The page where users choose; the default page if omitted. */
                        page_html: string;
                        /** @description The page after a choice. */
                        confirmation_html: string;
                        /** @description A URL to open instead of the confirmation page. */
                        redirect_url: string | null;
                        /** @description Elements for the head of the pages. */
                        options: {
                            /** @description The content of the viewport meta tag. */
                            "meta-viewport-content": string;
                        };
                        /** @description The locale. */
                        locale: string;
                        /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                        translations: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putPreferenceCenter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "title": "Email preferences",
                 *       "state": "active",
                 *       "page_html": "<form>…</form>",
                 *       "confirmation_html": "<p>Saved.</p>",
                 *       "options": {
                 *         "meta-viewport-content": "width=device-width, initial-scale=1"
                 *       },
                 *       "locale": "en",
                 *       "translations": {
                 *         "es-MX": {
                 *           "id_0": "Hola"
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The title of the pages. */
                    title?: string;
                    /**
                     * @description Whether the page is served: a draft is not.
                     * @enum {string}
                     */
                    state?: "active" | "draft";
                    /** @description Without it the center has the built-in page. */
                    page_html?: string;
                    /** @description The page shown after saving. */
                    confirmation_html?: string;
                    /** @description A URL to open after saving, instead of the confirmation. */
                    redirect_url?: string | null;
                    /** @description Elements for the head of the pages. */
                    options?: {
                        /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                        "meta-viewport-content"?: string;
                        /** @description The icons of the pages. */
                        "links-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                        /** @description The icons of the pages. */
                        "link-tags"?: {
                            /**
                             * @description The purpose of the icon.
                             * @enum {string}
                             */
                            rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                            /** @description The address of the icon. */
                            href: string;
                            /**
                             * @description The icon's media type.
                             * @enum {string}
                             */
                            type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                            /** @description Such as 32x32. */
                            sizes?: string;
                            /** @description The color of a mask icon. */
                            color?: string;
                        }[];
                    };
                    /** @description The language that the pages are in: en. */
                    locale?: string;
                    /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                    translations?: {
                        [key: string]: {
                            [key: string]: string;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "title": "Email preferences",
                     *       "state": "active",
                     *       "declared": false,
                     *       "created_at": "2026-01-01T12:00:00.000Z",
                     *       "updated_at": "2026-01-01T12:00:00.000Z",
                     *       "page_html": "<form>…</form>",
                     *       "confirmation_html": "<p>Saved.</p>",
                     *       "redirect_url": null,
                     *       "options": {
                     *         "meta-viewport-content": "width=device-width, initial-scale=1"
                     *       },
                     *       "locale": "en",
                     *       "translations": {
                     *         "es-MX": {
                     *           "id_0": "Hola"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The id. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description The title of the pages. */
                        title: string;
                        /**
                         * @description Whether the page is served: a draft is not.
                         * @enum {string}
                         */
                        state: "active" | "draft";
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /** @description When it was created. */
                        created_at: string;
                        /** @description When it last changed. */
                        updated_at: string;
                        /** @description The page where users choose; the default page if omitted. */
                        page_html: string;
                        /** @description The page after a choice. */
                        confirmation_html: string;
                        /** @description A URL to open instead of the confirmation page. */
                        redirect_url: string | null;
                        /** @description Elements for the head of the pages. */
                        options: {
                            /** @description The content of the viewport meta tag. */
                            "meta-viewport-content": string;
                        };
                        /** @description The locale. */
                        locale: string;
                        /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                        translations: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                        /** @description Parts of the pages that have no effect. */
                        warnings?: {
                            /**
                             * @description A stable name of the rule.
                             * @constant
                             */
                            code: "NO_EFFECT";
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The field. */
                            field: string;
                            /** @description The line. */
                            line: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deletePreferenceCenter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    previewPreferenceCenter: {
        parameters: {
            query?: {
                /**
                 * @description The user whose page is shown; a sample user by default.
                 * @example ada
                 */
                external_id?: string;
                /**
                 * @description Such as es or es-MX; the user's language by default.
                 * @example en
                 */
                locale?: string;
                /**
                 * @description Which page.
                 * @example page
                 */
                page?: "page" | "confirmation";
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Email preferences</title>… */
                    "text/html": string;
                };
            };
        };
    };
    previewPreferenceCenterContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "center": {
                 *         "name": "Newsletter",
                 *         "title": "Email preferences",
                 *         "state": "active",
                 *         "page_html": "<form>…</form>",
                 *         "confirmation_html": "<p>Saved.</p>",
                 *         "options": {
                 *           "meta-viewport-content": "width=device-width, initial-scale=1"
                 *         },
                 *         "locale": "en",
                 *         "translations": {
                 *           "es-MX": {
                 *             "id_0": "Hola"
                 *           }
                 *         }
                 *       },
                 *       "external_id": "ada",
                 *       "locale": "en",
                 *       "page": "page"
                 *     }
                 */
                "application/json": {
                    /** @description The content, as PUT takes it. */
                    center: {
                        /** @description The name. */
                        name: string;
                        /** @description The title of the pages. */
                        title?: string;
                        /**
                         * @description Whether the page is served: a draft is not.
                         * @enum {string}
                         */
                        state?: "active" | "draft";
                        /** @description Without it the center has the built-in page. */
                        page_html?: string;
                        /** @description The page shown after saving. */
                        confirmation_html?: string;
                        /** @description A URL to open after saving, instead of the confirmation. */
                        redirect_url?: string | null;
                        /** @description Elements for the head of the pages. */
                        options?: {
                            /** @description Viewport of the pages: only the content value of the viewport meta tag. */
                            "meta-viewport-content"?: string;
                            /** @description The icons of the pages. */
                            "links-tags"?: {
                                /**
                                 * @description The purpose of the icon.
                                 * @enum {string}
                                 */
                                rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                                /** @description The address of the icon. */
                                href: string;
                                /**
                                 * @description The icon's media type.
                                 * @enum {string}
                                 */
                                type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                                /** @description Such as 32x32. */
                                sizes?: string;
                                /** @description The color of a mask icon. */
                                color?: string;
                            }[];
                            /** @description The icons of the pages. */
                            "link-tags"?: {
                                /**
                                 * @description The purpose of the icon.
                                 * @enum {string}
                                 */
                                rel: "icon" | "shortcut icon" | "apple-touch-icon" | "mask-icon";
                                /** @description The address of the icon. */
                                href: string;
                                /**
                                 * @description The icon's media type.
                                 * @enum {string}
                                 */
                                type?: "image/png" | "image/svg" | "image/gif" | "image/x-icon" | "image/svg+xml" | "mask-icon";
                                /** @description Such as 32x32. */
                                sizes?: string;
                                /** @description The color of a mask icon. */
                                color?: string;
                            }[];
                        };
                        /** @description The language that the pages are in: en. */
                        locale?: string;
                        /** @description Texts by language (es, es-MX) and by the id of their translation tag. */
                        translations?: {
                            [key: string]: {
                                [key: string]: string;
                            };
                        };
                    };
                    /** @description The user whose page is shown; a sample user by default. */
                    external_id?: string;
                    /** @description Such as es or es-MX; the user's language by default. */
                    locale?: string;
                    /**
                     * @description Which page.
                     * @enum {string}
                     */
                    page?: "page" | "confirmation";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "html": "<!doctype html><title>Preference Center</title><form>…</form>",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The whole document of the page.
                         * @example <!doctype html><title>Preference Center</title><form>…</form>
                         */
                        html: string;
                        /** @description Parts of the pages that have no effect. */
                        warnings?: {
                            /**
                             * @description A stable name of the rule.
                             * @constant
                             */
                            code: "NO_EFFECT";
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The field. */
                            field: string;
                            /** @description The line. */
                            line: number;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    previewLinkPreferenceCenter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "locale": "es",
                 *       "page": "page"
                 *     }
                 */
                "application/json": {
                    /** @description Such as es or es-MX; the user's language by default. */
                    locale?: string;
                    /**
                     * @description Which page.
                     * @enum {string}
                     */
                    page?: "page" | "confirmation";
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "http://127.0.0.1:8080/preference-previews/aGVsbG8",
                     *       "expires_at": "2026-01-01T12:10:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Opens the preview in any browser.
                         * @example http://127.0.0.1:8080/preference-previews/aGVsbG8
                         */
                        url: string;
                        /**
                         * @description ISO 8601.
                         * @example 2026-01-01T12:10:00.000Z
                         */
                        expires_at: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    showPreferencePage: {
        parameters: {
            query?: {
                /**
                 * @description For groups, if there are more than a page shows.
                 * @example 1
                 */
                page?: number;
            };
            header?: {
                /**
                 * @description The languages of the reader.
                 * @example es-MX, es;q=0.9
                 */
                "accept-language"?: string;
            };
            path: {
                /**
                 * @description The signed part of the address.
                 * @example …
                 */
                link: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Email preferences</title>… */
                    "text/html": string;
                };
            };
        };
    };
    submitPreferencePage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The languages of the reader.
                 * @example es-MX, es;q=0.9
                 */
                "accept-language"?: string;
                /**
                 * @description The form's media type.
                 * @example application/x-www-form-urlencoded
                 */
                "content-type"?: string;
            };
            path: {
                /**
                 * @description The signed part of the address.
                 * @example …
                 */
                link: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email_global_state": "opted_in"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    [key: string]: string;
                };
                /**
                 * @example {
                 *       "email_global_state": "opted_in"
                 *     }
                 */
                "multipart/form-data": {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Email preferences</title>… */
                    "text/html": string;
                };
            };
            /** @description Done; the browser continues on another page. */
            303: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    getPreferencePreview: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The languages of the reader.
                 * @example es-MX, es;q=0.9
                 */
                "accept-language"?: string;
            };
            path: {
                /**
                 * @description The signed part of the address.
                 * @example …
                 */
                link: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html><title>Email preferences</title>… */
                    "text/html": string;
                };
            };
        };
    };
    applyManifest: {
        parameters: {
            query?: {
                /**
                 * @description Changes nothing and returns the changes that would be made.
                 * @example false
                 */
                dry_run?: boolean;
                /**
                 * @description Removes what earlier manifests declared in lists that this one omits.
                 * @example true
                 */
                prune?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "company": {
                 *         "name": "Acme"
                 *       },
                 *       "workspaces": [
                 *         {
                 *           "name": "demo",
                 *           "allow_reset": true,
                 *           "api_keys": [
                 *             {
                 *               "name": "tests",
                 *               "key": "a-key-for-the-tests",
                 *               "permissions": [
                 *                 "all"
                 *               ]
                 *             }
                 *           ],
                 *           "subscription_groups": [
                 *             {
                 *               "id": "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20",
                 *               "name": "Newsletter",
                 *               "channel": "email"
                 *             }
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "action": "updated",
                     *           "kind": "api_key",
                     *           "workspace": "demo",
                     *           "name": "Newsletter",
                     *           "fields": [
                     *             {
                     *               "field": "settings.time_zone",
                     *               "before": {},
                     *               "after": {}
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "notes": [],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The changes, newest first. */
                        changes: {
                            /**
                             * @description What was done.
                             * @enum {string}
                             */
                            action: "created" | "updated" | "removed";
                            /** @description The kind of thing it is about. */
                            kind: string;
                            /** @description The name of the workspace. */
                            workspace: string;
                            /** @description The name. */
                            name: string;
                            /** @description In a dry run, the fields that an update changes. Secrets are hidden. */
                            fields?: {
                                /**
                                 * @description Its path.
                                 * @example settings.time_zone
                                 */
                                field: string;
                                /** @description The value now. */
                                before: unknown;
                                /** @description The value afterwards. */
                                after: unknown;
                            }[];
                        }[];
                        /**
                         * @description Differences from the manifest that stay: a key that was rotated since, for example.
                         * @example []
                         */
                        notes: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getManifestSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": {}
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    resetWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "allow_reset": true,
                     *       "settings": {
                     *         "track_max_updates": 75,
                     *         "intake": "lenient",
                     *         "multi_language": true
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description Whether the workspace may be emptied by a reset. */
                        allow_reset: boolean;
                        settings: components["schemas"]["WorkspaceSettings"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "allow_reset": true,
                 *       "settings": {
                 *         "track_max_updates": 75,
                 *         "intake": "lenient",
                 *         "multi_language": true
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Whether POST /admin/v1/workspaces/{name}/reset may empty it. false by default. */
                    allow_reset?: boolean;
                    settings?: components["schemas"]["WorkspaceSettings"];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "allow_reset": true,
                     *       "settings": {
                     *         "track_max_updates": 75,
                     *         "intake": "lenient",
                     *         "multi_language": true
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description Whether the workspace may be emptied by a reset. */
                        allow_reset: boolean;
                        settings: components["schemas"]["WorkspaceSettings"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportManifest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "manifest": {
                     *         "name": {}
                     *       },
                     *       "variables": [
                     *         "API_KEY_DEMO_DEV"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description A manifest. */
                        manifest: {
                            [key: string]: unknown;
                        };
                        /**
                         * @description The environment variables that it needs; the value of DOLLAR is $.
                         * @example [
                         *       "API_KEY_DEMO_DEV"
                         *     ]
                         */
                        variables: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCompany: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putCompany: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter"
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listWorkspaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaces": [
                     *         {
                     *           "name": "Newsletter",
                     *           "allow_reset": true,
                     *           "settings": {
                     *             "track_max_updates": 75,
                     *             "intake": "lenient",
                     *             "multi_language": true
                     *           }
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The workspaces. */
                        workspaces: {
                            /** @description The name. */
                            name: string;
                            /** @description Whether the workspace may be emptied by a reset. */
                            allow_reset: boolean;
                            settings: components["schemas"]["WorkspaceSettings"];
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getMailDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mail_domains": [
                     *         "acme.example"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The domains whose addresses roles of a workspace may name as contacts, besides dashboard users. docs/mail.md */
                        mail_domains: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putMailDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "mail_domains": [
                 *         "acme.example"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The domains whose addresses roles of a workspace may name as contacts, besides dashboard users. docs/mail.md */
                    mail_domains: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "mail_domains": [
                     *         "acme.example"
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The domains whose addresses roles of a workspace may name as contacts, besides dashboard users. docs/mail.md */
                        mail_domains: string[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listConnections: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connections": [
                     *         {
                     *           "name": "Newsletter",
                     *           "type": "attributes",
                     *           "workspaces": [
                     *             "demo"
                     *           ],
                     *           "account": "acme-analytics",
                     *           "user": "rapport_reader",
                     *           "warehouse": "loading",
                     *           "role": "rapport",
                     *           "endpoint": "https://storage.example:9000",
                     *           "project": "acme-analytics",
                     *           "host": "dbc-a1b2c3d4-e5f6.cloud.databricks.com",
                     *           "path": "/sql/1.0/warehouses/a1b2c3d4e5f6",
                     *           "client_id": "8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b",
                     *           "tls": "verified",
                     *           "ca": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "root": "s3://bucket/crm/",
                     *           "region": "eu-central-1",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The connections. */
                        connections: {
                            /** @description Its name, which integrations give. */
                            name: string;
                            /** @description The kind of warehouse. */
                            type: string;
                            /** @description The workspaces that may read through it. */
                            workspaces: string[];
                            /**
                             * @description As declared; secrets are never shown.
                             * @example acme-analytics
                             */
                            account?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example rapport_reader
                             */
                            user?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example loading
                             */
                            warehouse?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example rapport
                             */
                            role?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example https://storage.example:9000
                             */
                            endpoint?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example acme-analytics
                             */
                            project?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example dbc-a1b2c3d4-e5f6.cloud.databricks.com
                             */
                            host?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example /sql/1.0/warehouses/a1b2c3d4e5f6
                             */
                            path?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example 8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b
                             */
                            client_id?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example verified
                             */
                            tls?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example -----BEGIN CERTIFICATE-----
                             *     MIIB…
                             *     -----END CERTIFICATE-----
                             */
                            ca?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example s3://bucket/crm/
                             */
                            root?: string;
                            /**
                             * @description As declared; secrets are never shown.
                             * @example eu-central-1
                             */
                            region?: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "type": "attributes",
                     *       "workspaces": [
                     *         "demo"
                     *       ],
                     *       "account": "acme-analytics",
                     *       "user": "rapport_reader",
                     *       "warehouse": "loading",
                     *       "role": "rapport",
                     *       "endpoint": "https://storage.example:9000",
                     *       "project": "acme-analytics",
                     *       "host": "dbc-a1b2c3d4-e5f6.cloud.databricks.com",
                     *       "path": "/sql/1.0/warehouses/a1b2c3d4e5f6",
                     *       "client_id": "8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b",
                     *       "tls": "verified",
                     *       "ca": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *       "root": "s3://bucket/crm/",
                     *       "region": "eu-central-1",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Its name, which integrations give. */
                        name: string;
                        /** @description The kind of warehouse. */
                        type: string;
                        /** @description The workspaces that may read through it. */
                        workspaces: string[];
                        /**
                         * @description As declared; secrets are never shown.
                         * @example acme-analytics
                         */
                        account?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example rapport_reader
                         */
                        user?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example loading
                         */
                        warehouse?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example rapport
                         */
                        role?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example https://storage.example:9000
                         */
                        endpoint?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example acme-analytics
                         */
                        project?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example dbc-a1b2c3d4-e5f6.cloud.databricks.com
                         */
                        host?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example /sql/1.0/warehouses/a1b2c3d4e5f6
                         */
                        path?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example 8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b
                         */
                        client_id?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example verified
                         */
                        tls?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example -----BEGIN CERTIFICATE-----
                         *     MIIB…
                         *     -----END CERTIFICATE-----
                         */
                        ca?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example s3://bucket/crm/
                         */
                        root?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example eu-central-1
                         */
                        region?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "workspaces": [
                 *         "demo"
                 *       ],
                 *       "type": "postgres",
                 *       "url": "postgres://warehouse.example/crm"
                 *     }
                 */
                "application/json": {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "postgres";
                    /** @description postgres://user:password@host:port/database */
                    url: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "redshift";
                    /** @description postgres://user:password@host:port/database */
                    url: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "snowflake";
                    /**
                     * @description The account identifier, such as acme-analytics.
                     * @example acme-analytics
                     */
                    account: string;
                    /**
                     * @description The user that reads.
                     * @example rapport_reader
                     */
                    user: string;
                    /** @description The private key of the user, as a PEM block. */
                    private_key: string;
                    /** @description The passphrase of the key, if it has one. */
                    private_key_passphrase?: string;
                    /**
                     * @description The warehouse that computes; by default the user's.
                     * @example loading
                     */
                    warehouse?: string;
                    /**
                     * @description The role that reads; by default the user's.
                     * @example rapport
                     */
                    role?: string;
                    /**
                     * @description An address other than the vendor's own, such as https://proxy.example:8443.
                     * @example https://proxy.example:8443
                     */
                    endpoint?: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "bigquery";
                    /**
                     * @description The project that is billed, such as acme-analytics.
                     * @example acme-analytics
                     */
                    project: string;
                    /** @description The key of the service account: the JSON that Google gives, as text or object. */
                    credentials: string | {
                        [key: string]: unknown;
                    };
                    /**
                     * @description An address other than the vendor's own, such as https://proxy.example:8443.
                     * @example https://proxy.example:8443
                     */
                    endpoint?: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "databricks";
                    /**
                     * @description The host of the workspace, such as dbc-a1b2c3d4-e5f6.cloud.databricks.com.
                     * @example dbc-a1b2c3d4-e5f6.cloud.databricks.com
                     */
                    host: string;
                    /**
                     * @description The HTTP path of the SQL warehouse: /sql/1.0/warehouses/a1b2c3d4e5f6.
                     * @example /sql/1.0/warehouses/a1b2c3d4e5f6
                     */
                    path: string;
                    /** @description A personal access token. */
                    token?: string;
                    /**
                     * @description The id of a service principal, instead of a token.
                     * @example 8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b
                     */
                    client_id?: string;
                    /** @description The OAuth secret that belongs to client_id. */
                    client_secret?: string;
                    /**
                     * @description An address other than the vendor's own, such as https://proxy.example:8443.
                     * @example https://proxy.example:8443
                     */
                    endpoint?: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "mysql";
                    /** @description mysql://user:password@host:port/database */
                    url: string;
                    /**
                     * @description verified (the default): encrypted, and the certificate must be for the host. off: neither.
                     * @example verified
                     * @enum {string}
                     */
                    tls?: "verified" | "off";
                    /**
                     * @description The authority that signed the certificate, as PEM blocks, if it is not public.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    ca?: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "files";
                    /**
                     * @description A folder of the server. Links in it that point elsewhere are not followed.
                     * @example /srv/drops
                     */
                    root: string;
                } | {
                    /** @description The workspaces that may read through it. */
                    workspaces: string[];
                    /**
                     * @description What kind it is.
                     * @enum {string}
                     */
                    type: "s3";
                    /** @description The id of the access key. */
                    access_key_id: string;
                    /** @description The secret of the access key; never shown. */
                    secret_access_key: string;
                    /**
                     * @description The region of the bucket.
                     * @example eu-central-1
                     */
                    region?: string;
                    /**
                     * @description For a storage other than Amazon's, such as https://storage.example:9000.
                     * @example https://storage.example:9000
                     */
                    endpoint?: string;
                    /**
                     * @description The folder that integrations stay below, such as s3://bucket/crm/.
                     * @example s3://bucket/crm/
                     */
                    root?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "type": "attributes",
                     *       "workspaces": [
                     *         "demo"
                     *       ],
                     *       "account": "acme-analytics",
                     *       "user": "rapport_reader",
                     *       "warehouse": "loading",
                     *       "role": "rapport",
                     *       "endpoint": "https://storage.example:9000",
                     *       "project": "acme-analytics",
                     *       "host": "dbc-a1b2c3d4-e5f6.cloud.databricks.com",
                     *       "path": "/sql/1.0/warehouses/a1b2c3d4e5f6",
                     *       "client_id": "8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b",
                     *       "tls": "verified",
                     *       "ca": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *       "root": "s3://bucket/crm/",
                     *       "region": "eu-central-1",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Its name, which integrations give. */
                        name: string;
                        /** @description The kind of warehouse. */
                        type: string;
                        /** @description The workspaces that may read through it. */
                        workspaces: string[];
                        /**
                         * @description As declared; secrets are never shown.
                         * @example acme-analytics
                         */
                        account?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example rapport_reader
                         */
                        user?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example loading
                         */
                        warehouse?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example rapport
                         */
                        role?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example https://storage.example:9000
                         */
                        endpoint?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example acme-analytics
                         */
                        project?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example dbc-a1b2c3d4-e5f6.cloud.databricks.com
                         */
                        host?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example /sql/1.0/warehouses/a1b2c3d4e5f6
                         */
                        path?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example 8d2f6f0e-91d4-4e6a-8a0b-3c5f0f6f1a2b
                         */
                        client_id?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example verified
                         */
                        tls?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example -----BEGIN CERTIFICATE-----
                         *     MIIB…
                         *     -----END CERTIFICATE-----
                         */
                        ca?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example s3://bucket/crm/
                         */
                        root?: string;
                        /**
                         * @description As declared; secrets are never shown.
                         * @example eu-central-1
                         */
                        region?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listPermissionSets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "permission_sets": [
                     *         {
                     *           "name": "Newsletter",
                     *           "permissions": [
                     *             "admin"
                     *           ],
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The permission sets. */
                        permission_sets: {
                            /** @description The name. */
                            name: string;
                            /** @description The permissions of a user with the set in a workspace. */
                            permissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getPermissionSet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "permissions": [
                     *         "admin"
                     *       ],
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The permissions of a user with the set in a workspace. */
                        permissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putPermissionSet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permissions": [
                 *         "admin"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The permissions of a user with the set in a workspace. */
                    permissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "permissions": [
                     *         "admin"
                     *       ],
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The permissions of a user with the set in a workspace. */
                        permissions?: ("admin" | "basic_access" | "approve_deny_campaigns" | "send_campaigns_canvases" | "publish_cards" | "edit_segments" | "export_user_data" | "view_user_profile" | "manage_dashboard_users" | "manage_media_library" | "view_pii" | "view_usage_data" | "import_update_user_data" | "view_billing_details" | "dev_console" | "launch_content_blocks" | "manage_external_integrations" | "manage_apps" | "manage_teams" | "manage_events_attributes_purchases" | "manage_tags" | "manage_email_settings" | "manage_subscription_groups" | "manage_approval_settings" | "manage_catalogs_dashboard_permission")[];
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deletePermissionSet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getScimDefaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "department": "engineering",
                     *       "permissions": {},
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The department.
                         * @enum {string}
                         */
                        department?: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
                        /** @description As in a SCIM body: companyPermissions, appGroup. */
                        permissions?: Record<string, never>;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putScimDefaults: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "department": "engineering",
                 *       "permissions": {}
                 *     }
                 */
                "application/json": {
                    /**
                     * @description The department.
                     * @enum {string}
                     */
                    department?: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
                    /** @description As in a SCIM body: companyPermissions, appGroup. */
                    permissions?: Record<string, never>;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "department": "engineering",
                     *       "permissions": {},
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The department.
                         * @enum {string}
                         */
                        department?: "agency" | "bi" | "c_suite" | "engineering" | "finance" | "marketing" | "pm";
                        /** @description As in a SCIM body: companyPermissions, appGroup. */
                        permissions?: Record<string, never>;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settings": {
                     *         "track_max_updates": 75,
                     *         "intake": "lenient",
                     *         "multi_language": true
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        settings: components["schemas"]["WorkspaceSettings"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putSettings: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "track_max_updates": 75,
                 *       "intake": "lenient",
                 *       "multi_language": true
                 *     }
                 */
                "application/json": components["schemas"]["WorkspaceSettings"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "settings": {
                     *         "track_max_updates": 75,
                     *         "intake": "lenient",
                     *         "multi_language": true
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        settings: components["schemas"]["WorkspaceSettings"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listApps: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "apps": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "platform": "web",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The apps. */
                        apps: {
                            /** @description As requests name it. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /**
                             * @description The platform of the app.
                             * @enum {string}
                             */
                            platform: "android" | "fire_os" | "ios" | "macos" | "roku" | "tvos" | "unity" | "web" | "windows";
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "platform": "web",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description The platform of the app.
                         * @enum {string}
                         */
                        platform: "android" | "fire_os" | "ios" | "macos" | "roku" | "tvos" | "unity" | "web" | "windows";
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "platform": "web"
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /**
                     * @description The platform of the app.
                     * @enum {string}
                     */
                    platform: "android" | "fire_os" | "ios" | "macos" | "roku" | "tvos" | "unity" | "web" | "windows";
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "platform": "web",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description The platform of the app.
                         * @enum {string}
                         */
                        platform: "android" | "fire_os" | "ios" | "macos" | "roku" | "tvos" | "unity" | "web" | "windows";
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSubscriptionGroups: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "subscription_groups": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "channel": "email",
                     *           "description": "News, once a month.",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Subscription groups. */
                        subscription_groups: {
                            /** @description As requests name it. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /**
                             * @description email, sms or whatsapp.
                             * @enum {string}
                             */
                            channel: "email" | "sms" | "whatsapp";
                            /**
                             * @description A description for subscribers, shown on the page where they choose.
                             * @example News, once a month.
                             */
                            description?: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSubscriptionGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "channel": "email",
                     *       "description": "News, once a month.",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description email, sms or whatsapp.
                         * @enum {string}
                         */
                        channel: "email" | "sms" | "whatsapp";
                        /**
                         * @description A description for subscribers, shown on the page where they choose.
                         * @example News, once a month.
                         */
                        description?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putSubscriptionGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "channel": "email",
                 *       "description": "News, once a month."
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /**
                     * @description email, sms or whatsapp.
                     * @enum {string}
                     */
                    channel: "email" | "sms" | "whatsapp";
                    /**
                     * @description A description for subscribers, shown on the page where they choose.
                     * @example News, once a month.
                     */
                    description?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "channel": "email",
                     *       "description": "News, once a month.",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description email, sms or whatsapp.
                         * @enum {string}
                         */
                        channel: "email" | "sms" | "whatsapp";
                        /**
                         * @description A description for subscribers, shown on the page where they choose.
                         * @example News, once a month.
                         */
                        description?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteSubscriptionGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listTeams: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "teams": [
                     *         {
                     *           "name": "Newsletter",
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The teams. */
                        teams: {
                            /** @description The name. */
                            name: string;
                            /** @description Generated if omitted. */
                            id?: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description Generated if omitted. */
                        id?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                 *     }
                 */
                "application/json": {
                    /** @description Generated if omitted. */
                    id?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description Generated if omitted. */
                        id?: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteTeam: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listLocales: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "locales": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "country": "Mexico",
                     *           "language": "Spanish",
                     *           "locale_key": "es-MX",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The locales. */
                        locales: {
                            /**
                             * Format: uuid
                             * @description A UUID, as requests name it.
                             */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description The country. */
                            country: string;
                            /** @description The language. */
                            language: string;
                            /** @description Such as es-MX. */
                            locale_key: string;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getLocale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "country": "Mexico",
                     *       "language": "Spanish",
                     *       "locale_key": "es-MX",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description A UUID, as requests name it.
                         */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description The country. */
                        country: string;
                        /** @description The language. */
                        language: string;
                        /** @description Such as es-MX. */
                        locale_key: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putLocale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "country": "Mexico",
                 *       "language": "Spanish",
                 *       "locale_key": "es-MX"
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The country. */
                    country: string;
                    /** @description The language. */
                    language: string;
                    /** @description Such as es-MX. */
                    locale_key: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "country": "Mexico",
                     *       "language": "Spanish",
                     *       "locale_key": "es-MX",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description A UUID, as requests name it.
                         */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description The country. */
                        country: string;
                        /** @description The language. */
                        language: string;
                        /** @description Such as es-MX. */
                        locale_key: string;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteLocale: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description A UUID, as requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listSegments: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "segments": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "description": "Bought twice in a month and can be mailed.",
                     *           "tags": [
                     *             "loyalty"
                     *           ],
                     *           "filter": {
                     *             "all": [
                     *               {
                     *                 "event": "signed_up"
                     *               },
                     *               {
                     *                 "attribute": "country",
                     *                 "equals": "DE"
                     *               }
                     *             ]
                     *           },
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The segments. */
                        segments: {
                            /**
                             * Format: uuid
                             * @description As requests name it.
                             */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /**
                             * @description What the segment is for, in your own words.
                             * @example Bought twice in a month and can be mailed.
                             */
                            description?: string;
                            /** @description Words to find the segment by. */
                            tags?: string[];
                            /**
                             * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                             * @example {
                             *       "all": [
                             *         {
                             *           "event": "signed_up"
                             *         },
                             *         {
                             *           "attribute": "country",
                             *           "equals": "DE"
                             *         }
                             *       ]
                             *     }
                             */
                            filter: {
                                [key: string]: unknown;
                            };
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "description": "Bought twice in a month and can be mailed.",
                     *       "tags": [
                     *         "loyalty"
                     *       ],
                     *       "filter": {
                     *         "all": [
                     *           {
                     *             "event": "signed_up"
                     *           },
                     *           {
                     *             "attribute": "country",
                     *             "equals": "DE"
                     *           }
                     *         ]
                     *       },
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description As requests name it.
                         */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description What the segment is for, in your own words.
                         * @example Bought twice in a month and can be mailed.
                         */
                        description?: string;
                        /** @description Words to find the segment by. */
                        tags?: string[];
                        /**
                         * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                         * @example {
                         *       "all": [
                         *         {
                         *           "event": "signed_up"
                         *         },
                         *         {
                         *           "attribute": "country",
                         *           "equals": "DE"
                         *         }
                         *       ]
                         *     }
                         */
                        filter: {
                            [key: string]: unknown;
                        };
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "description": "Bought twice in a month and can be mailed.",
                 *       "tags": [
                 *         "loyalty"
                 *       ],
                 *       "filter": {
                 *         "all": [
                 *           {
                 *             "event": "signed_up"
                 *           },
                 *           {
                 *             "attribute": "country",
                 *             "equals": "DE"
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /**
                     * @description What the segment is for, in your own words.
                     * @example Bought twice in a month and can be mailed.
                     */
                    description?: string;
                    /** @description Words to find the segment by. */
                    tags?: string[];
                    /**
                     * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                     * @example {
                     *       "all": [
                     *         {
                     *           "event": "signed_up"
                     *         },
                     *         {
                     *           "attribute": "country",
                     *           "equals": "DE"
                     *         }
                     *       ]
                     *     }
                     */
                    filter: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "description": "Bought twice in a month and can be mailed.",
                     *       "tags": [
                     *         "loyalty"
                     *       ],
                     *       "filter": {
                     *         "all": [
                     *           {
                     *             "event": "signed_up"
                     *           },
                     *           {
                     *             "attribute": "country",
                     *             "equals": "DE"
                     *           }
                     *         ]
                     *       },
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description As requests name it.
                         */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /**
                         * @description What the segment is for, in your own words.
                         * @example Bought twice in a month and can be mailed.
                         */
                        description?: string;
                        /** @description Words to find the segment by. */
                        tags?: string[];
                        /**
                         * @description { all: [filter, …] }, { any: [filter, …] }, { not: filter }, or a condition on one of attribute, custom_attribute, event, purchases, money_spent, sessions, subscription_group, email_subscription, push_subscription, email_available, device, in_segment. At most 50 conditions in 5 levels. docs/segments.md has the language.
                         * @example {
                         *       "all": [
                         *         {
                         *           "event": "signed_up"
                         *         },
                         *         {
                         *           "attribute": "country",
                         *           "equals": "DE"
                         *         }
                         *       ]
                         *     }
                         */
                        filter: {
                            [key: string]: unknown;
                        };
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "Newsletter",
                     *           "url": "postgres://warehouse.example/crm",
                     *           "types": [
                     *             "user.created"
                     *           ],
                     *           "state": "active",
                     *           "contact_emails": "ops@acme.example",
                     *           "paused_reason": "The receiver responded with 410: it wants no more deliveries.",
                     *           "behind_since": "2026-01-31T12:00:00.000Z",
                     *           "failing_since": "2026-01-31T12:00:00.000Z",
                     *           "previous_secret_until": "2026-01-31T12:00:00.000Z",
                     *           "declared": false
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The webhooks. */
                        webhooks: {
                            /** @description As requests name it. */
                            id: string;
                            /** @description The name. */
                            name: string;
                            /** @description Gets a POST for each batch of changes. */
                            url: string;
                            /** @description The types of changes to deliver; all if it is empty or absent. */
                            types: ("user.created" | "user.updated" | "user.identified" | "user.merged" | "user.deleted" | "event.logged" | "purchase.logged" | "subscription.changed" | "email_state.changed" | "sync.finished" | "export.finished")[];
                            /**
                             * @description A paused webhook keeps its place in the feed. active by default.
                             * @enum {string}
                             */
                            state: "active" | "paused";
                            /** @description Addresses to notify when the webhook is paused automatically, separated by commas. */
                            contact_emails: string;
                            /**
                             * @description Why it was paused automatically; null if it was not. PUT with `active` resumes it.
                             * @example The receiver responded with 410: it wants no more deliveries.
                             */
                            paused_reason: string | null;
                            /**
                             * @description When the oldest change was written that is under way; null if there is none.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            behind_since: string | null;
                            /**
                             * @description Since when a batch fails; null if none does.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            failing_since: string | null;
                            /**
                             * @description Until when the previous secret signs as well; null if there was none.
                             * @example 2026-01-31T12:00:00.000Z
                             */
                            previous_secret_until: string | null;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "url": "postgres://warehouse.example/crm",
                     *       "types": [
                     *         "user.created"
                     *       ],
                     *       "state": "active",
                     *       "contact_emails": "ops@acme.example",
                     *       "paused_reason": "The receiver responded with 410: it wants no more deliveries.",
                     *       "behind_since": "2026-01-31T12:00:00.000Z",
                     *       "failing_since": "2026-01-31T12:00:00.000Z",
                     *       "previous_secret_until": "2026-01-31T12:00:00.000Z",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description Gets a POST for each batch of changes. */
                        url: string;
                        /** @description The types of changes to deliver; all if it is empty or absent. */
                        types: ("user.created" | "user.updated" | "user.identified" | "user.merged" | "user.deleted" | "event.logged" | "purchase.logged" | "subscription.changed" | "email_state.changed" | "sync.finished" | "export.finished")[];
                        /**
                         * @description A paused webhook keeps its place in the feed. active by default.
                         * @enum {string}
                         */
                        state: "active" | "paused";
                        /** @description Addresses to notify when the webhook is paused automatically, separated by commas. */
                        contact_emails: string;
                        /**
                         * @description Why it was paused automatically; null if it was not. PUT with `active` resumes it.
                         * @example The receiver responded with 410: it wants no more deliveries.
                         */
                        paused_reason: string | null;
                        /**
                         * @description When the oldest change was written that is under way; null if there is none.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        behind_since: string | null;
                        /**
                         * @description Since when a batch fails; null if none does.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        failing_since: string | null;
                        /**
                         * @description Until when the previous secret signs as well; null if there was none.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        previous_secret_until: string | null;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    putWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "url": "https://crm.example/rapport",
                 *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                 *       "types": [
                 *         "user.created"
                 *       ],
                 *       "state": "active",
                 *       "contact_emails": "ops@acme.example"
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /**
                     * @description Gets a POST for each batch of changes.
                     * @example https://crm.example/rapport
                     */
                    url: string;
                    /**
                     * @description Signs each delivery: `whsec_` and 24 to 64 bytes in base64. Without a secret the present one stays; a new webhook gets one, which `rotate-secret` replaces and shows.
                     * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw
                     */
                    secret?: string;
                    /** @description The types of changes to deliver; all if it is empty or absent. */
                    types?: ("user.created" | "user.updated" | "user.identified" | "user.merged" | "user.deleted" | "event.logged" | "purchase.logged" | "subscription.changed" | "email_state.changed" | "sync.finished" | "export.finished")[];
                    /**
                     * @description A paused webhook keeps its place in the feed. active by default.
                     * @enum {string}
                     */
                    state?: "active" | "paused";
                    /** @description Addresses to notify when the webhook is paused automatically, separated by commas. */
                    contact_emails?: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *       "name": "Newsletter",
                     *       "url": "postgres://warehouse.example/crm",
                     *       "types": [
                     *         "user.created"
                     *       ],
                     *       "state": "active",
                     *       "contact_emails": "ops@acme.example",
                     *       "paused_reason": "The receiver responded with 410: it wants no more deliveries.",
                     *       "behind_since": "2026-01-31T12:00:00.000Z",
                     *       "failing_since": "2026-01-31T12:00:00.000Z",
                     *       "previous_secret_until": "2026-01-31T12:00:00.000Z",
                     *       "declared": false,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description As requests name it. */
                        id: string;
                        /** @description The name. */
                        name: string;
                        /** @description Gets a POST for each batch of changes. */
                        url: string;
                        /** @description The types of changes to deliver; all if it is empty or absent. */
                        types: ("user.created" | "user.updated" | "user.identified" | "user.merged" | "user.deleted" | "event.logged" | "purchase.logged" | "subscription.changed" | "email_state.changed" | "sync.finished" | "export.finished")[];
                        /**
                         * @description A paused webhook keeps its place in the feed. active by default.
                         * @enum {string}
                         */
                        state: "active" | "paused";
                        /** @description Addresses to notify when the webhook is paused automatically, separated by commas. */
                        contact_emails: string;
                        /**
                         * @description Why it was paused automatically; null if it was not. PUT with `active` resumes it.
                         * @example The receiver responded with 410: it wants no more deliveries.
                         */
                        paused_reason: string | null;
                        /**
                         * @description When the oldest change was written that is under way; null if there is none.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        behind_since: string | null;
                        /**
                         * @description Since when a batch fails; null if none does.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        failing_since: string | null;
                        /**
                         * @description Until when the previous secret signs as well; null if there was none.
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        previous_secret_until: string | null;
                        /** @description Whether a manifest declared it. */
                        declared: boolean;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description As requests name it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listApiKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_keys": [
                     *         {
                     *           "name": "Newsletter",
                     *           "permissions": [
                     *             "users.track"
                     *           ],
                     *           "ip_allowlist": [
                     *             "203.0.113.0/24"
                     *           ],
                     *           "previous_key_until": "2026-01-01T12:00:00.000Z",
                     *           "declared": false,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "last_seen_at": "2026-01-01T12:00:00.000Z",
                     *           "revoked_at": null
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The API keys. */
                        api_keys: {
                            /** @description The name. */
                            name: string;
                            /** @description The key's permissions: all, or a list. */
                            permissions: ("all" | "users.track" | "users.track.bulk" | "users.track.sync" | "users.export.ids" | "users.export.segment" | "users.alias.new" | "users.alias.update" | "users.external_ids.rename" | "users.external_ids.remove" | "users.identify" | "users.merge" | "users.delete" | "subscription.status.set" | "subscription.status.get" | "subscription.groups.get" | "email.status" | "email.unsubscribe" | "email.hard_bounces" | "email.bounce.remove" | "email.blacklist" | "cdi.integration_list" | "cdi.integration_job_status" | "cdi.integration_sync" | "preference_center.update" | "preference_center.list" | "preference_center.get" | "preference_center.user.get" | "campaigns.translations.get" | "campaigns.translations.update" | "canvas.translations.get" | "canvas.translations.update" | "segments.list" | "segments.details" | "segments.data_series" | "events.list" | "events.get" | "custom_attributes.get" | "purchases.product_list" | "changes.get" | "users.export.global_control_group" | "email.spam.remove" | "messages.send" | "messages.schedule.create" | "messages.schedule.update" | "messages.schedule.delete" | "messages.schedule_broadcasts" | "messages.live_activity.start" | "messages.live_activity.update" | "campaigns.trigger.send" | "campaigns.trigger.schedule.create" | "campaigns.trigger.schedule.update" | "campaigns.trigger.schedule.delete" | "campaigns.list" | "campaigns.details" | "campaigns.data_series" | "campaigns.url_info.details" | "campaigns.duplicate" | "sends.id.create" | "sends.data_series" | "transactional.send" | "canvas.trigger.send" | "canvas.trigger.schedule.create" | "canvas.trigger.schedule.update" | "canvas.trigger.schedule.delete" | "canvas.list" | "canvas.details" | "canvas.data_series" | "canvas.data_summary" | "canvas.url_info.details" | "canvas.duplicate" | "purchases.revenue_series" | "purchases.quantity_series" | "events.data_series" | "sessions.data_series" | "feed.list" | "feed.details" | "feed.data_series" | "kpi.new_users.data_series" | "kpi.dau.data_series" | "kpi.mau.data_series" | "kpi.uninstalls.data_series" | "templates.email.create" | "templates.email.update" | "templates.email.info" | "templates.email.list" | "templates.translations.get" | "templates.translations.update" | "content_blocks.create" | "content_blocks.update" | "content_blocks.info" | "content_blocks.list" | "content_blocks.translations.get" | "content_blocks.translations.update" | "media_library.create" | "sms.invalid_phone_numbers" | "sms.invalid_phone_numbers.remove" | "catalogs.create" | "catalogs.get" | "catalogs.delete" | "catalogs.create_fields" | "catalogs.delete_fields" | "catalogs.create_selection" | "catalogs.delete_selection" | "catalogs.get_items" | "catalogs.add_items" | "catalogs.update_items" | "catalogs.replace_items" | "catalogs.delete_items" | "catalogs.get_item" | "catalogs.create_item" | "catalogs.update_item" | "catalogs.replace_item" | "catalogs.delete_item" | "sdk_authentication.create" | "sdk_authentication.primary" | "sdk_authentication.delete" | "sdk_authentication.keys")[];
                            /** @description Addresses and CIDR blocks that the key may be used from; empty means everywhere. */
                            ip_allowlist: string[];
                            /** @description While two secrets are valid: when the previous one expires. */
                            previous_key_until: string | null;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                            /** @description When it was created. */
                            created_at: string;
                            /** @description When it was last used, to the minute. */
                            last_seen_at: string | null;
                            /** @description When it was revoked; null if it was not. */
                            revoked_at: string | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "permissions": [
                 *         "users.track"
                 *       ],
                 *       "ip_allowlist": [
                 *         "203.0.113.0/24"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The key's permissions: all, or a list. */
                    permissions: ("all" | "users.track" | "users.track.bulk" | "users.track.sync" | "users.export.ids" | "users.export.segment" | "users.alias.new" | "users.alias.update" | "users.external_ids.rename" | "users.external_ids.remove" | "users.identify" | "users.merge" | "users.delete" | "subscription.status.set" | "subscription.status.get" | "subscription.groups.get" | "email.status" | "email.unsubscribe" | "email.hard_bounces" | "email.bounce.remove" | "email.blacklist" | "cdi.integration_list" | "cdi.integration_job_status" | "cdi.integration_sync" | "preference_center.update" | "preference_center.list" | "preference_center.get" | "preference_center.user.get" | "campaigns.translations.get" | "campaigns.translations.update" | "canvas.translations.get" | "canvas.translations.update" | "segments.list" | "segments.details" | "segments.data_series" | "events.list" | "events.get" | "custom_attributes.get" | "purchases.product_list" | "changes.get" | "users.export.global_control_group" | "email.spam.remove" | "messages.send" | "messages.schedule.create" | "messages.schedule.update" | "messages.schedule.delete" | "messages.schedule_broadcasts" | "messages.live_activity.start" | "messages.live_activity.update" | "campaigns.trigger.send" | "campaigns.trigger.schedule.create" | "campaigns.trigger.schedule.update" | "campaigns.trigger.schedule.delete" | "campaigns.list" | "campaigns.details" | "campaigns.data_series" | "campaigns.url_info.details" | "campaigns.duplicate" | "sends.id.create" | "sends.data_series" | "transactional.send" | "canvas.trigger.send" | "canvas.trigger.schedule.create" | "canvas.trigger.schedule.update" | "canvas.trigger.schedule.delete" | "canvas.list" | "canvas.details" | "canvas.data_series" | "canvas.data_summary" | "canvas.url_info.details" | "canvas.duplicate" | "purchases.revenue_series" | "purchases.quantity_series" | "events.data_series" | "sessions.data_series" | "feed.list" | "feed.details" | "feed.data_series" | "kpi.new_users.data_series" | "kpi.dau.data_series" | "kpi.mau.data_series" | "kpi.uninstalls.data_series" | "templates.email.create" | "templates.email.update" | "templates.email.info" | "templates.email.list" | "templates.translations.get" | "templates.translations.update" | "content_blocks.create" | "content_blocks.update" | "content_blocks.info" | "content_blocks.list" | "content_blocks.translations.get" | "content_blocks.translations.update" | "media_library.create" | "sms.invalid_phone_numbers" | "sms.invalid_phone_numbers.remove" | "catalogs.create" | "catalogs.get" | "catalogs.delete" | "catalogs.create_fields" | "catalogs.delete_fields" | "catalogs.create_selection" | "catalogs.delete_selection" | "catalogs.get_items" | "catalogs.add_items" | "catalogs.update_items" | "catalogs.replace_items" | "catalogs.delete_items" | "catalogs.get_item" | "catalogs.create_item" | "catalogs.update_item" | "catalogs.replace_item" | "catalogs.delete_item" | "sdk_authentication.create" | "sdk_authentication.primary" | "sdk_authentication.delete" | "sdk_authentication.keys")[];
                    /** @description Addresses and CIDR blocks that the key may be used from; empty means everywhere. */
                    ip_allowlist?: string[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "key": "backend",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The secret. It is shown once: only its hash is stored. */
                        key: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The name of the API key.
                 * @example backend
                 */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How long the previous secret remains valid: time to deploy the new one. A day by default.
                     * @default 86400
                     */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "key": "backend",
                     *       "previous_key_until": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The secret. It is shown once: only its hash is stored. */
                        key: string;
                        /** @description Until when the older secret works. */
                        previous_key_until: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    changeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The name of the API key.
                 * @example backend
                 */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permissions": [
                 *         "users.track"
                 *       ],
                 *       "ip_allowlist": [
                 *         "203.0.113.0/24"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The key's permissions: all, or a list. */
                    permissions: ("all" | "users.track" | "users.track.bulk" | "users.track.sync" | "users.export.ids" | "users.export.segment" | "users.alias.new" | "users.alias.update" | "users.external_ids.rename" | "users.external_ids.remove" | "users.identify" | "users.merge" | "users.delete" | "subscription.status.set" | "subscription.status.get" | "subscription.groups.get" | "email.status" | "email.unsubscribe" | "email.hard_bounces" | "email.bounce.remove" | "email.blacklist" | "cdi.integration_list" | "cdi.integration_job_status" | "cdi.integration_sync" | "preference_center.update" | "preference_center.list" | "preference_center.get" | "preference_center.user.get" | "campaigns.translations.get" | "campaigns.translations.update" | "canvas.translations.get" | "canvas.translations.update" | "segments.list" | "segments.details" | "segments.data_series" | "events.list" | "events.get" | "custom_attributes.get" | "purchases.product_list" | "changes.get" | "users.export.global_control_group" | "email.spam.remove" | "messages.send" | "messages.schedule.create" | "messages.schedule.update" | "messages.schedule.delete" | "messages.schedule_broadcasts" | "messages.live_activity.start" | "messages.live_activity.update" | "campaigns.trigger.send" | "campaigns.trigger.schedule.create" | "campaigns.trigger.schedule.update" | "campaigns.trigger.schedule.delete" | "campaigns.list" | "campaigns.details" | "campaigns.data_series" | "campaigns.url_info.details" | "campaigns.duplicate" | "sends.id.create" | "sends.data_series" | "transactional.send" | "canvas.trigger.send" | "canvas.trigger.schedule.create" | "canvas.trigger.schedule.update" | "canvas.trigger.schedule.delete" | "canvas.list" | "canvas.details" | "canvas.data_series" | "canvas.data_summary" | "canvas.url_info.details" | "canvas.duplicate" | "purchases.revenue_series" | "purchases.quantity_series" | "events.data_series" | "sessions.data_series" | "feed.list" | "feed.details" | "feed.data_series" | "kpi.new_users.data_series" | "kpi.dau.data_series" | "kpi.mau.data_series" | "kpi.uninstalls.data_series" | "templates.email.create" | "templates.email.update" | "templates.email.info" | "templates.email.list" | "templates.translations.get" | "templates.translations.update" | "content_blocks.create" | "content_blocks.update" | "content_blocks.info" | "content_blocks.list" | "content_blocks.translations.get" | "content_blocks.translations.update" | "media_library.create" | "sms.invalid_phone_numbers" | "sms.invalid_phone_numbers.remove" | "catalogs.create" | "catalogs.get" | "catalogs.delete" | "catalogs.create_fields" | "catalogs.delete_fields" | "catalogs.create_selection" | "catalogs.delete_selection" | "catalogs.get_items" | "catalogs.add_items" | "catalogs.update_items" | "catalogs.replace_items" | "catalogs.delete_items" | "catalogs.get_item" | "catalogs.create_item" | "catalogs.update_item" | "catalogs.replace_item" | "catalogs.delete_item" | "sdk_authentication.create" | "sdk_authentication.primary" | "sdk_authentication.delete" | "sdk_authentication.keys")[];
                    /** @description Addresses and CIDR blocks that the key may be used from; empty means everywhere. */
                    ip_allowlist: string[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The name of the API key.
                 * @example backend
                 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listScimTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "scim_tokens": [
                     *         {
                     *           "name": "Newsletter",
                     *           "service_origin": "acme.example",
                     *           "require_origin": true,
                     *           "company_permissions": [
                     *             "admin"
                     *           ],
                     *           "previous_token_until": "2026-01-01T12:00:00.000Z",
                     *           "declared": false,
                     *           "created_at": "2026-01-01T12:00:00.000Z",
                     *           "last_seen_at": "2026-01-01T12:00:00.000Z",
                     *           "revoked_at": null
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The SCIM tokens. */
                        scim_tokens: {
                            /** @description The name. */
                            name: string;
                            /** @description The required value of X-Request-Origin. */
                            service_origin: string;
                            /** @description false for identity providers that cannot send custom headers. */
                            require_origin: boolean;
                            /** @description The permissions in the company that users may be given with the token; by default manage_company_settings. With `admin` the token can do as much as the admin token. */
                            company_permissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                            /** @description While two secrets are valid: when the previous one expires. */
                            previous_token_until: string | null;
                            /** @description Whether a manifest declared it. */
                            declared: boolean;
                            /** @description When it was created. */
                            created_at: string;
                            /** @description When it was last used, to the minute. */
                            last_seen_at: string | null;
                            /** @description When it was revoked; null if it was not. */
                            revoked_at: string | null;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createScimToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Newsletter",
                 *       "service_origin": "acme.example",
                 *       "require_origin": true,
                 *       "company_permissions": [
                 *         "admin"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The name. */
                    name: string;
                    /** @description The required value of X-Request-Origin. */
                    service_origin: string;
                    /** @description false for identity providers that cannot send custom headers. */
                    require_origin?: boolean;
                    /** @description The permissions in the company that users may be given with the token; by default manage_company_settings. With `admin` the token can do as much as the admin token. */
                    company_permissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                };
            };
        };
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "token": "okta",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The secret. It is shown once: only its hash is stored. */
                        token: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    rotateScimToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the SCIM token.
                 * @example okta
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "overlap_seconds": 86400
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How long the previous secret remains valid: time to deploy the new one. A day by default.
                     * @default 86400
                     */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Newsletter",
                     *       "token": "okta",
                     *       "previous_token_until": "2026-01-01T12:00:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The name. */
                        name: string;
                        /** @description The secret. It is shown once: only its hash is stored. */
                        token: string;
                        /** @description Until when the older secret works. */
                        previous_token_until: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    changeScimToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the SCIM token.
                 * @example okta
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service_origin": "acme.example",
                 *       "require_origin": true,
                 *       "company_permissions": [
                 *         "admin"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The required value of X-Request-Origin. */
                    service_origin: string;
                    /** @description false for identity providers that cannot send custom headers. */
                    require_origin: boolean;
                    /** @description The permissions in the company that users may be given with the token; by default manage_company_settings. With `admin` the token can do as much as the admin token. */
                    company_permissions?: ("admin" | "manage_company_settings" | "add_remove_app_groups")[];
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    revokeScimToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the SCIM token.
                 * @example okta
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                workspace?: string;
                /**
                 * @description The kind of thing it is about.
                 * @example api_key
                 */
                kind?: string;
                /**
                 * @description The name.
                 * @example Newsletter
                 */
                name?: string;
                /**
                 * @description Only changes, or only reads of personal data; both by default.
                 * @example changes
                 */
                of?: "changes" | "reads";
                /**
                 * @description The next_cursor of the previous page.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "workspace": "demo",
                     *           "action": "updated",
                     *           "kind": "api_key",
                     *           "name": "Newsletter",
                     *           "details": {
                     *             "name": {}
                     *           },
                     *           "actor": "administrator",
                     *           "actor_name": "backend",
                     *           "call": "POST /users/merge",
                     *           "request_id": "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60",
                     *           "address": "203.0.113.7",
                     *           "position": 1,
                     *           "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The entries, newest first. */
                        entries: {
                            /** @description The id. */
                            id: string;
                            /** @description ISO 8601. */
                            at: string;
                            /** @description The name of the workspace. */
                            workspace: string | null;
                            /** @description What was done. */
                            action: string;
                            /** @description The kind of thing it is about. */
                            kind: string;
                            /** @description The name. */
                            name: string;
                            /** @description The stored data about it. */
                            details: {
                                [key: string]: unknown;
                            } | null;
                            /** @description administrator, key, server … */
                            actor: string;
                            /** @description The name of the key or token. */
                            actor_name: string | null;
                            /** @description The call that did it. */
                            call: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string | null;
                            /** @description The IP address of the caller. */
                            address: string | null;
                            /** @description The position in the chain, from 1; null for entries written before the chain existed. */
                            position: number | null;
                            /**
                             * @description Covers the entry and the hash before it.
                             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                             */
                            hash: string | null;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                /**
                 * @description The position of the last entry already read; only later ones are returned.
                 * @example 0
                 */
                after?: number;
                /**
                 * @description ISO 8601; included.
                 * @example 2026-01-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {"id":"01a202fb-66ac-777b-8c59-a515051d0d42","at":"2026-01-01T12:00:00.000Z","action":"created",…} */
                    "application/x-ndjson": string;
                };
            };
        };
    };
    verifyAudit: {
        parameters: {
            query?: {
                /**
                 * @description A head that was printed earlier; the chain must still contain it.
                 * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                 */
                expect?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "intact": true,
                     *       "entries": 1,
                     *       "head": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *       "broken_at": {
                     *         "position": 1,
                     *         "message": "success",
                     *         "entry": {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "workspace": "demo",
                     *           "action": "updated",
                     *           "kind": "api_key",
                     *           "name": "Newsletter",
                     *           "details": {
                     *             "name": {}
                     *           },
                     *           "actor": "administrator",
                     *           "actor_name": "backend",
                     *           "call": "POST /users/merge",
                     *           "request_id": "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60",
                     *           "address": "203.0.113.7",
                     *           "position": 1,
                     *           "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                     *         }
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Whether every entry is unchanged. */
                        intact: boolean;
                        /** @description How many entries the chain has. */
                        entries: number;
                        /**
                         * @description The hash of the last entry; keep it elsewhere.
                         * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                         */
                        head: string;
                        /** @description The first break of the chain; null if it is intact. */
                        broken_at: {
                            /** @description The position of the first break. */
                            position: number;
                            /** @description `success`, or the fault. */
                            message: string;
                            /** @description The entry there; null if it was removed. */
                            entry: {
                                /** @description The id. */
                                id: string;
                                /** @description ISO 8601. */
                                at: string;
                                /** @description The name of the workspace. */
                                workspace: string | null;
                                /** @description What was done. */
                                action: string;
                                /** @description The kind of thing it is about. */
                                kind: string;
                                /** @description The name. */
                                name: string;
                                /** @description The stored data about it. */
                                details: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description administrator, key, server … */
                                actor: string;
                                /** @description The name of the key or token. */
                                actor_name: string | null;
                                /** @description The call that did it. */
                                call: string | null;
                                /** @description The `X-Request-Id` of the response. */
                                request_id: string | null;
                                /** @description The IP address of the caller. */
                                address: string | null;
                                /** @description The position in the chain, from 1; null for entries written before the chain existed. */
                                position: number | null;
                                /**
                                 * @description Covers the entry and the hash before it.
                                 * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                                 */
                                hash: string | null;
                            } | null;
                        } | null;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createEngineCopy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description The copy is the folder copy-ID of the server's data folder.
                         * @example 019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e
                         */
                        id: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteEngineCopy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSecretKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key_id": "a1b2c3d4",
                     *       "secret_key_id": "a1b2c3d4",
                     *       "previous_secret_key_id": null,
                     *       "secrets": {
                     *         "current": 1,
                     *         "previous": 1,
                     *         "plain": 1,
                     *         "unreadable": 1
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The key in use; null if none is decided yet: on the embedded engine before the first secret is stored. */
                        key_id: string | null;
                        /** @description The id of SECRET_KEY; null without one. */
                        secret_key_id: string | null;
                        /** @description The id of PREVIOUS_SECRET_KEY; null without one. */
                        previous_secret_key_id: string | null;
                        /** @description How many stored secrets are sealed with each key. */
                        secrets: {
                            /** @description Sealed with SECRET_KEY. */
                            current: number;
                            /** @description Sealed with PREVIOUS_SECRET_KEY. */
                            previous: number;
                            /** @description Stored before sealing existed. */
                            plain: number;
                            /** @description Sealed with another key, or damaged. */
                            unreadable: number;
                        };
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    rotateSecretKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resealed": 1,
                     *       "unreadable": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description Secrets that were sealed with the previous key, or not at all. */
                        resealed: number;
                        /** @description Secrets that cannot be opened; they are left unchanged. */
                        unreadable: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getCaptured: {
        parameters: {
            query?: {
                /**
                 * @description Only calls of this path and of paths below it.
                 * @example /messages
                 */
                path?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example 1
                 */
                cursor?: number;
                /**
                 * @description The most entries in the response.
                 * @example 100
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "captured": [
                     *         {
                     *           "position": 1,
                     *           "captured_at": "2026-01-01T12:00:00.000Z",
                     *           "method": "POST",
                     *           "path": "/messages/send",
                     *           "query": {
                     *             "name": {}
                     *           },
                     *           "body": {
                     *             "external_user_ids": [
                     *               "ada"
                     *             ],
                     *             "messages": {}
                     *           },
                     *           "status": 201,
                     *           "response": {
                     *             "dispatch_id": "4a8b1c0d2e3f4a5b6c7d8e9f0a1b2c3d",
                     *             "message": "success"
                     *           },
                     *           "api_key": "dev",
                     *           "request_id": "0d7e5a3c-7d0e-4f1b-8a5d-2b1c3d4e5f60"
                     *         }
                     *       ],
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The calls. */
                        captured: {
                            /** @description The number of the call in its workspace. */
                            position: number;
                            /**
                             * @description ISO 8601.
                             * @example 2026-01-01T12:00:00.000Z
                             */
                            captured_at: string;
                            /**
                             * @description The method of the call.
                             * @example POST
                             */
                            method: string;
                            /**
                             * @description The path without the query.
                             * @example /messages/send
                             */
                            path: string;
                            /** @description The parameters of the query. */
                            query: {
                                [key: string]: unknown;
                            };
                            /**
                             * @description The body as sent; null if there was none.
                             * @example {
                             *       "external_user_ids": [
                             *         "ada"
                             *       ],
                             *       "messages": {}
                             *     }
                             */
                            body: {
                                [key: string]: unknown;
                            } | null;
                            /**
                             * @description The status that it got.
                             * @example 201
                             */
                            status: number;
                            /**
                             * @description The body that it got.
                             * @example {
                             *       "dispatch_id": "4a8b1c0d2e3f4a5b6c7d8e9f0a1b2c3d",
                             *       "message": "success"
                             *     }
                             */
                            response: {
                                [key: string]: unknown;
                            };
                            /**
                             * @description The name of the key.
                             * @example dev
                             */
                            api_key: string | null;
                            /** @description The `X-Request-Id` of the response. */
                            request_id: string;
                        }[];
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    deleteCaptured: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": 1,
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description How many there were. */
                        deleted: number;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person": {
                     *         "user_name": "ada@acme.example",
                     *         "display_name": "Ada Lovelace",
                     *         "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "administrator": true,
                     *       "permissions": {
                     *         "company": [
                     *           "admin"
                     *         ],
                     *         "workspaces": {
                     *           "name": [
                     *             "admin"
                     *           ]
                     *         }
                     *       },
                     *       "workspaces": [
                     *         "demo"
                     *       ],
                     *       "csrf_token": "Z0hKQv1cJtXo2m8v3b4w5x6y7z8A9B0C1D2E3F4G5H6",
                     *       "expires_at": "2026-01-01T13:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "admin_token": "admin_9f86d081884c7d659a2feaa0c55ad015"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description ADMIN_TOKEN, or the content of the file admin-token in the data folder.
                     * @example admin_9f86d081884c7d659a2feaa0c55ad015
                     */
                    admin_token: string;
                };
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "person": {
                     *         "user_name": "ada@acme.example",
                     *         "display_name": "Ada Lovelace",
                     *         "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"
                     *       },
                     *       "administrator": true,
                     *       "permissions": {
                     *         "company": [
                     *           "admin"
                     *         ],
                     *         "workspaces": {
                     *           "name": [
                     *             "admin"
                     *           ]
                     *         }
                     *       },
                     *       "workspaces": [
                     *         "demo"
                     *       ],
                     *       "csrf_token": "Z0hKQv1cJtXo2m8v3b4w5x6y7z8A9B0C1D2E3F4G5H6",
                     *       "expires_at": "2026-01-01T13:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    signOutEverywhere: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    createSignInLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done and committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://rapport.example/dashboard/sign-in?token=link_Zm9v",
                     *       "expires_at": "2026-01-01T12:15:00.000Z",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description The link; the first person to open it and confirm is signed in.
                         * @example https://rapport.example/dashboard/sign-in?token=link_Zm9v
                         */
                        url: string;
                        /**
                         * @description Until when it works.
                         * @example 2026-01-01T12:15:00.000Z
                         */
                        expires_at: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    listLiveRequests: {
        parameters: {
            query?: {
                /**
                 * @description Such as 400, or 4xx.
                 * @example 4xx
                 */
                status?: string;
                /**
                 * @description The id or name of a key.
                 * @example backend
                 */
                key?: string;
                /**
                 * @description The user that an item names; needs view_pii.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The path, or the declared path: /users/:id.
                 * @example /users/track
                 */
                endpoint?: string;
                /**
                 * @description The code of an item or a refusal.
                 * @example INVALID_TIME
                 */
                code?: string;
                /**
                 * @description The next_cursor of the previous page.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                cursor?: string;
                /**
                 * @description The most entries in the response.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "requests": [
                     *         {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "at": "2026-01-01T12:00:00.000Z",
                     *           "method": "POST",
                     *           "path": "/users/track",
                     *           "status": 201,
                     *           "duration_ms": 4.2,
                     *           "server": "app-1 (process 4711)",
                     *           "key": {
                     *             "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *             "name": "backend"
                     *           },
                     *           "items": [
                     *             {
                     *               "index": 0,
                     *               "kind": "events",
                     *               "accepted": true,
                     *               "code": "INVALID_TIME",
                     *               "message": "'time' must be a date in ISO 8601",
                     *               "user": "ada"
                     *             }
                     *           ],
                     *           "rejected": 0,
                     *           "code": "INVALID_LOCALE_ID",
                     *           "body": {},
                     *           "response": {}
                     *         }
                     *       ],
                     *       "kept": 1000,
                     *       "next_cursor": "0198c0de-0000-7000-8000-000000000001",
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /** @description The requests. */
                        requests: components["schemas"]["LiveRequest"][];
                        /**
                         * @description How many requests each process keeps; 0: live requests are off.
                         * @example 1000
                         */
                        kept: number;
                        /** @description The `cursor` of the next page; absent on the last. */
                        next_cursor?: string;
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    streamLiveRequests: {
        parameters: {
            query?: {
                /**
                 * @description Such as 400, or 4xx.
                 * @example 4xx
                 */
                status?: string;
                /**
                 * @description The id or name of a key.
                 * @example backend
                 */
                key?: string;
                /**
                 * @description The user that an item names; needs view_pii.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The path, or the declared path: /users/:id.
                 * @example /users/track
                 */
                endpoint?: string;
                /**
                 * @description The code of an item or a refusal.
                 * @example INVALID_TIME
                 */
                code?: string;
                /**
                 * @description After how many seconds the stream ends.
                 * @example 60
                 */
                for_seconds?: number;
            };
            header?: {
                /**
                 * @description The id of the last event that was received: the stream resumes after it.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                "last-event-id"?: string;
            };
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: request
                     *     data: {"status":201}
                     */
                    "text/event-stream": string;
                };
            };
        };
    };
    getLiveRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
                /**
                 * @description The id.
                 * @example 3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "request": {
                     *         "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *         "at": "2026-01-01T12:00:00.000Z",
                     *         "method": "POST",
                     *         "path": "/users/track",
                     *         "status": 201,
                     *         "duration_ms": 4.2,
                     *         "server": "app-1 (process 4711)",
                     *         "key": {
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "name": "backend"
                     *         },
                     *         "items": [
                     *           {
                     *             "index": 0,
                     *             "kind": "events",
                     *             "accepted": true,
                     *             "code": "INVALID_TIME",
                     *             "message": "'time' must be a date in ISO 8601",
                     *             "user": "ada"
                     *           }
                     *         ],
                     *         "rejected": 0,
                     *         "code": "INVALID_LOCALE_ID",
                     *         "body": {},
                     *         "response": {}
                     *       },
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        request: components["schemas"]["LiveRequest"];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /**
                 * @description The last hour in slots of 10 seconds, or the last day in slots of 5 minutes.
                 * @example hour
                 */
                period?: "hour" | "day";
            };
            header?: never;
            path: {
                /**
                 * @description The name of the workspace.
                 * @example demo
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "start": "2026-01-01T12:00:00.000Z",
                     *       "slot_seconds": 10,
                     *       "requests": [
                     *         0,
                     *         12
                     *       ],
                     *       "refused": [
                     *         0,
                     *         12
                     *       ],
                     *       "failed": [
                     *         0,
                     *         12
                     *       ],
                     *       "items_accepted": [
                     *         0,
                     *         12
                     *       ],
                     *       "items_rejected": [
                     *         0,
                     *         12
                     *       ],
                     *       "p50_ms": [
                     *         null,
                     *         4.2
                     *       ],
                     *       "p99_ms": [
                     *         null,
                     *         4.2
                     *       ],
                     *       "queue_items": [
                     *         0,
                     *         12
                     *       ],
                     *       "rejections": [
                     *         {
                     *           "code": "INVALID_TIME",
                     *           "counts": [
                     *             0,
                     *             12
                     *           ]
                     *         }
                     *       ],
                     *       "syncs": {
                     *         "rows_synced": [
                     *           0,
                     *           12
                     *         ],
                     *         "rows_failed": [
                     *           0,
                     *           12
                     *         ]
                     *       },
                     *       "attention": [
                     *         {
                     *           "kind": "sync_failed",
                     *           "severity": "bad",
                     *           "subject": "INVALID_TIME",
                     *           "id": "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
                     *           "message": "12 % of the items of the last hour were rejected, 40 with this code."
                     *         }
                     *       ],
                     *       "message": "success"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description When the first slot begins, in ISO 8601.
                         * @example 2026-01-01T12:00:00.000Z
                         */
                        start: string;
                        /**
                         * @description How long a slot is.
                         * @example 10
                         */
                        slot_seconds: number;
                        /**
                         * @description Requests of API keys.
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        requests: number[];
                        /**
                         * @description Of these, refused ones (4xx).
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        refused: number[];
                        /**
                         * @description Of these, failed ones (5xx).
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        failed: number[];
                        /**
                         * @description Items that took effect: attributes, events, users to merge, and so on.
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        items_accepted: number[];
                        /**
                         * @description Those that were rejected or skipped.
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        items_rejected: number[];
                        /**
                         * @description The median of the response times; null without requests.
                         * @example [
                         *       null,
                         *       4.2
                         *     ]
                         */
                        p50_ms: (number | null)[];
                        /**
                         * @description The response time that 99 % of the requests did not exceed.
                         * @example [
                         *       null,
                         *       4.2
                         *     ]
                         */
                        p99_ms: (number | null)[];
                        /**
                         * @description The most items that waited in the write queue, of all workspaces.
                         * @example [
                         *       0,
                         *       12
                         *     ]
                         */
                        queue_items: number[];
                        /** @description Rejected items by code. */
                        rejections: {
                            /**
                             * @description The code.
                             * @example INVALID_TIME
                             */
                            code: string;
                            /**
                             * @description How many items got it.
                             * @example [
                             *       0,
                             *       12
                             *     ]
                             */
                            counts: number[];
                        }[];
                        /** @description Warehouse syncs; null without basic_access. */
                        syncs: {
                            /**
                             * @description Rows of the runs that started then.
                             * @example [
                             *       0,
                             *       12
                             *     ]
                             */
                            rows_synced: number[];
                            /**
                             * @description How many rows of these runs failed.
                             * @example [
                             *       0,
                             *       12
                             *     ]
                             */
                            rows_failed: number[];
                        } | null;
                        /** @description What needs attention, the worst first. */
                        attention: {
                            /**
                             * @description What it is.
                             * @enum {string}
                             */
                            kind: "sync_failed" | "webhook_paused" | "webhook_failing" | "items_rejected" | "requests_failed" | "queue_filling" | "job_paused" | "lock_held" | "key_throttled" | "secret_expires" | "key_unused";
                            /**
                             * @description How urgent it is.
                             * @enum {string}
                             */
                            severity: "bad" | "warn" | "info";
                            /**
                             * @description The subject: an integration, a webhook, a key, or a code.
                             * @example INVALID_TIME
                             */
                            subject: string;
                            /** @description The id of the integration or webhook. */
                            id: string | null;
                            /**
                             * @description The finding as a sentence.
                             * @example 12 % of the items of the last hour were rejected, 40 with this code.
                             */
                            message: string;
                        }[];
                        /**
                         * @description `success`, or the fault.
                         * @constant
                         */
                        message: "success";
                    };
                };
            };
        };
    };
    receiveChanges: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The same at every attempt.
                 * @example msg_0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a
                 */
                "webhook-id": string;
                /**
                 * @description When this attempt was made.
                 * @example 1769860800
                 */
                "webhook-timestamp": string;
                /**
                 * @description `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; two while a secret changes.
                 * @example v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=
                 */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "changes": [
                 *         {
                 *           "id": "0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z",
                 *           "type": "email_state.changed",
                 *           "at": "2026-01-31T12:00:00.000Z",
                 *           "user": {
                 *             "platform_id": "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e",
                 *             "external_id": "ada"
                 *           },
                 *           "email": "ada@example.com",
                 *           "before": "subscribed",
                 *           "after": "unsubscribed",
                 *           "source": "POST /email/status"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description At most 500, in order. */
                    changes: components["schemas"]["Change"][];
                };
            };
        };
        responses: {
            /** @description The webhook pauses. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The batch is accepted. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The batch is split until the change is found that is refused, which becomes a dead letter. 408, 425 and 429 are tried again instead. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The batch is tried again. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
