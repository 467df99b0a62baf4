<h1><?= $text($title) ?></h1>
<?php foreach ($posts as $post): ?>
<section>
<h2><a href="index.php?post=<?= $post->number ?>"><?= $text($post->title) ?></a></h2>
<p><?= $text($post->teaser()) ?></p>
</section>
<?php endforeach ?>
