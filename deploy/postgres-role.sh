#!/bin/sh
# Run by the image of PostgreSQL on an empty volume: Rapport's role and database. The role is no superuser, so that no
# statement reads or writes a file of the database's machine.
set -e
psql --set=ON_ERROR_STOP=1 --set=password="${RAPPORT_DATABASE_PASSWORD:?}" --username="${POSTGRES_USER:-postgres}" <<'SQL'
create role rapport login nosuperuser nocreatedb nocreaterole password :'password';
create database rapport owner rapport;
SQL
