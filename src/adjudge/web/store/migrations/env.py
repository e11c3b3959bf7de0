"""How migrations are run: on the connection that the database hands over, inside its transaction."""

from alembic import context

from adjudge.web.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,
    render_as_batch=True,
)
context.run_migrations()
