<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title><?= $text($title) ?> – A blog</title>
</head>
<body>
<header><h1><a href="index.php">A blog</a></h1></header>
<main>
<?= $content ?>
</main>
<?= $view->part('sidebar', ['archive' => $archive, 'latest' => $latest]) ?>
</body>
</html>
