<h1>Not found</h1>
<p>There is no such post.</p>
