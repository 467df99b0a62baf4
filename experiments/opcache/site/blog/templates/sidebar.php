<aside>
<h2>Latest</h2>
<ul><?php foreach ($latest as $post): ?><li><a href="index.php?post=<?= $post->number ?>"><?= $text($post->title) ?></a></li><?php endforeach ?></ul>
<h2>Months</h2>
<ul><?php foreach ($archive->months as $month => $count): ?><li><?= $text($month) ?> (<?= $count ?>)</li><?php endforeach ?></ul>
<h2>Tags</h2>
<ul><?php foreach ($archive->tags as $tag => $count): ?><li><?= $text($tag) ?> (<?= $count ?>)</li><?php endforeach ?></ul>
</aside>
