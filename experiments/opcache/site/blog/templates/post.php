<article>
<h1><?= $text($post->title) ?></h1>
<p><time datetime="<?= $post->date->format('Y-m-d') ?>"><?= $post->date->format('j F Y') ?></time></p>
<?= $post->text ?>
<p>Tags: <?php foreach ($post->tags as $tag): ?><a href="index.php?tag=<?= rawurlencode($tag) ?>"><?= $text($tag) ?></a> <?php endforeach ?></p>
</article>
